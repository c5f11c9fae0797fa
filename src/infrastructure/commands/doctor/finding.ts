import type { ReadConfig } from '../../config.ts';

/** The environment and the configuration that the doctor examines. */
export type SetUp = ReadConfig & {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Arguments of Node, which can name environment files. */
  readonly nodeArguments: readonly string[];
};

/** Only `problem` means that something does not work or is not safe. */
export type Severity = 'ok' | 'note' | 'warning' | 'problem';

/** One result of the doctor. It contains no secret. */
export type Finding = {
  /** The group and a name within it. It stays the same in later versions; several findings may have it. */
  readonly id: string;
  readonly severity: Severity;
  /** A sentence about what was seen. */
  readonly seen: string;
  /** A sentence about what to do; `null` when it is `ok`. */
  readonly advice: string | null;
};

export type Findings = Finding | readonly Finding[];

export const ok = (id: string, seen: string): Finding => ({ id, severity: 'ok', seen, advice: null });

const withAdvice =
  (severity: Severity) =>
  (id: string, seen: string, advice: string): Finding => ({ id, severity, seen, advice });

/** For information, or something that the doctor cannot find out. */
export const note = withAdvice('note');
/** Something that works, but is risky or probably not intended. */
export const warning = withAdvice('warning');
export const problem = withAdvice('problem');

/** Milliseconds for a connection, and for a query. */
export const QUESTION_TIMEOUT = 3_000;
