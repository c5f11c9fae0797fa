import type { Logger } from 'pino';

const WINDOW = 60_000;
const MAX_LINES = 100;

/** Log lines with the same values are of one kind. The values have to be from small sets, since each kind is stored. `of`: the message of the lines. */
export type LineKind = {
  readonly level: 'info' | 'warn' | 'error' | 'fatal';
  readonly of: string;
  readonly route?: string | undefined;
  readonly code?: string;
  readonly status?: number;
};

type LineLimit = {
  /** Lines of a kind with the same group, such as the same reason, are counted together. A client may choose the value. */
  readonly group?: string | undefined;
  /** The most lines of a group in a window. */
  readonly maxLines?: number;
};

export type LogSampling = {
  /** Whether to write a line. The lines that a limit suppresses are counted. */
  admits(kind: LineKind, limit?: LineLimit): boolean;
  /** Logs how many lines of the current window were suppressed. */
  close(): void;
};

/** Counts the lines of one window, of each kind and group. A kind has at most `MAX_LINES` lines, and so at most as many groups. */
export const lineCounter = () => {
  const kinds = new Map<string, { kind: LineKind; written: number; groups: Map<string, number>; suppressed: number }>();
  const countOf = (kind: LineKind) => {
    const key = `${kind.level} ${kind.route} ${kind.code} ${kind.status} ${kind.of}`;
    const count = kinds.get(key) ?? { kind, written: 0, groups: new Map(), suppressed: 0 };
    kinds.set(key, count);
    return count;
  };
  return {
    admits(kind: LineKind, { group = '', maxLines = MAX_LINES }: LineLimit = {}): boolean {
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

/** Limits lines that clients can cause. At the end of each window, it logs how many lines of each kind it has suppressed. */
export const logSampling = (logger: Logger): LogSampling => {
  let counter = lineCounter();
  const endWindow = (): void => {
    for (const { level, ...line } of counter.suppressed()) logger[level](line, 'lines suppressed');
    counter = lineCounter();
  };
  const windows = setInterval(endWindow, WINDOW).unref();
  return {
    admits: (kind, limit) => logger.isLevelEnabled(kind.level) && counter.admits(kind, limit),
    close() {
      clearInterval(windows);
      endWindow();
    },
  };
};

/** For development, where the developer is the only client: admits every line of an enabled level. */
export const withoutSampling = (logger: Logger): LogSampling => ({
  admits: ({ level }) => logger.isLevelEnabled(level),
  close: () => undefined,
});
