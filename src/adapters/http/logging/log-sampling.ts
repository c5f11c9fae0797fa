import type { Logger } from 'pino';

/** Milliseconds. */
const WINDOW = 60_000;
/** Lines of one kind in a window. */
const MAX_LINES = 100;

/** What the lines of one kind have in common. Its values are names of the service, never what a client sends. */
export type LineKind = {
  readonly level: 'info' | 'warn' | 'error' | 'fatal';
  /** The message of the lines. */
  readonly of: string;
  readonly route?: string | undefined;
  readonly code?: string;
  readonly status?: number;
};

type Sample = {
  /** Lines of a kind with the same value are counted together: their reason, for instance. May contain what a client sends. */
  readonly group?: string | undefined;
  /** How many lines of a group are written in a window. */
  readonly maxLines?: number;
};

export type LogSampling = {
  /** Whether to write a line. A line that is not written is counted. */
  admits(kind: LineKind, sample?: Sample): boolean;
  /** Logs the counts of the current window, and stops the timer. */
  close(): void;
};

/** Counts the lines of one window. Of each kind it keeps the texts that were written, at most `MAX_LINES` texts. */
export const lineCount = () => {
  const kinds = new Map<string, { kind: LineKind; written: number; groups: Map<string, number>; leftOut: number }>();
  const countOf = (kind: LineKind) => {
    const key = `${kind.level} ${kind.route} ${kind.code} ${kind.status} ${kind.of}`;
    const known = kinds.get(key) ?? { kind, written: 0, groups: new Map(), leftOut: 0 };
    kinds.set(key, known);
    return known;
  };
  return {
    admits(kind: LineKind, { group = '', maxLines = MAX_LINES }: Sample = {}): boolean {
      const count = countOf(kind);
      const before = count.groups.get(group) ?? 0;
      if (before >= maxLines || count.written >= MAX_LINES) {
        count.leftOut += 1;
        return false;
      }
      count.groups.set(group, before + 1);
      count.written += 1;
      return true;
    },
    /** The kinds of which lines were left out, with how many. */
    leftOut: (): readonly (LineKind & { readonly leftOut: number })[] =>
      [...kinds.values()].flatMap(({ kind, leftOut }) => (leftOut > 0 ? [{ ...kind, leftOut }] : [])),
  };
};

/** Bounds the lines that clients can cause. At the end of a window it logs how many lines of each kind were left out. */
export const logSampling = (logger: Logger): LogSampling => {
  let count = lineCount();
  const endWindow = (): void => {
    for (const { level, ...line } of count.leftOut()) logger[level](line, 'lines left out');
    count = lineCount();
  };
  const windows = setInterval(endWindow, WINDOW).unref();
  return {
    admits: (kind, sample) => logger.isLevelEnabled(kind.level) && count.admits(kind, sample),
    close() {
      clearInterval(windows);
      endWindow();
    },
  };
};
