import type { Logger } from 'pino';

/** Milliseconds. */
const WINDOW = 60_000;
/** Lines of one kind in a window. */
const MOST = 100;

/** What the lines have in common that are counted together. Its values are names of ours, never what a client sends. */
export type LineKind = {
  readonly level: 'info' | 'warn' | 'error' | 'fatal';
  /** Their message. */
  readonly of: string;
  readonly route?: string | undefined;
  readonly code?: string;
  readonly status?: number;
};

type Sample = {
  /** What makes lines of a kind alike, such as their reason. It may hold what a client sends. */
  readonly alike?: string | undefined;
  /** How many lines that are alike are written in a window. */
  readonly most?: number;
};

export type LogSampling = {
  /** Whether a line is to be written. If it is not, it is counted. */
  admits(kind: LineKind, sample?: Sample): boolean;
  /** Logs how many lines were left out so far, and ends. */
  close(): void;
};

/** Counts the lines of one window. It remembers of each kind what was written, so no more than `MOST` texts. */
export const lineCount = () => {
  const kinds = new Map<string, { kind: LineKind; written: number; alike: Map<string, number>; leftOut: number }>();
  const countOf = (kind: LineKind) => {
    const key = `${kind.level} ${kind.route} ${kind.code} ${kind.status} ${kind.of}`;
    const known = kinds.get(key) ?? { kind, written: 0, alike: new Map(), leftOut: 0 };
    kinds.set(key, known);
    return known;
  };
  return {
    admits(kind: LineKind, { alike = '', most = MOST }: Sample = {}): boolean {
      const count = countOf(kind);
      const before = count.alike.get(alike) ?? 0;
      if (before >= most || count.written >= MOST) {
        count.leftOut += 1;
        return false;
      }
      count.alike.set(alike, before + 1);
      count.written += 1;
      return true;
    },
    /** The kinds of which lines were left out. */
    leftOut: (): readonly (LineKind & { readonly leftOut: number })[] =>
      [...kinds.values()].flatMap(({ kind, leftOut }) => (leftOut > 0 ? [{ ...kind, leftOut }] : [])),
  };
};

/** Bounds what strangers can make the service log. When a window ends, what was left out in it is logged as a count. */
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
