import type { Logger } from 'pino';

const WINDOW = 60_000;
const MAX_LINES = 100;

/** The members that all lines of one kind share. A client cannot choose them. */
export type LineKind = {
  readonly level: 'info' | 'warn' | 'error' | 'fatal';
  readonly of: string;
  readonly route?: string | undefined;
  readonly code?: string;
  readonly status?: number;
};

type Sample = {
  /** Lines of a kind with the same group, such as a reason, are counted together. A client may choose it. */
  readonly group?: string | undefined;
  readonly maxLines?: number;
};

export type LogSampling = {
  /** Whether to write a line. A line that is not written is counted. */
  admits(kind: LineKind, sample?: Sample): boolean;
  /** Logs the counts of the current window, and stops the timer. */
  close(): void;
};

/** Counts the lines of one window. Of each kind, it keeps at most `MAX_LINES` groups. */
export const lineCount = () => {
  const kinds = new Map<string, { kind: LineKind; written: number; groups: Map<string, number>; suppressed: number }>();
  const countOf = (kind: LineKind) => {
    const key = `${kind.level} ${kind.route} ${kind.code} ${kind.status} ${kind.of}`;
    const known = kinds.get(key) ?? { kind, written: 0, groups: new Map(), suppressed: 0 };
    kinds.set(key, known);
    return known;
  };
  return {
    admits(kind: LineKind, { group = '', maxLines = MAX_LINES }: Sample = {}): boolean {
      const count = countOf(kind);
      const before = count.groups.get(group) ?? 0;
      if (before >= maxLines || count.written >= MAX_LINES) {
        count.suppressed += 1;
        return false;
      }
      count.groups.set(group, before + 1);
      count.written += 1;
      return true;
    },
    suppressed: (): readonly (LineKind & { readonly suppressed: number })[] =>
      [...kinds.values()].flatMap(({ kind, suppressed }) => (suppressed > 0 ? [{ ...kind, suppressed }] : [])),
  };
};

/** Limits the lines that clients can cause. At the end of a window it logs how many lines of each kind were suppressed. */
export const logSampling = (logger: Logger): LogSampling => {
  let count = lineCount();
  const endWindow = (): void => {
    for (const { level, ...line } of count.suppressed()) logger[level](line, 'lines suppressed');
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

/** Writes every line. In development all clients are the developer's. */
export const withoutSampling = (logger: Logger): LogSampling => ({
  admits: ({ level }) => logger.isLevelEnabled(level),
  close: () => undefined,
});
