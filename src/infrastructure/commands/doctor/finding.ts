import type { ReadConfig } from '../../config.ts';

/** What the doctor examines. */
export type SetUp = ReadConfig & {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Arguments of Node, which can name environment files. */
  readonly nodeArguments: readonly string[];
};

/** Of these, only `problem` means that something does not work or is not safe. */
export type Severity = 'ok' | 'note' | 'warning' | 'problem';

/** One thing that the doctor has seen. It contains no secret. */
export type Finding = {
  /** The group and a name within it. It stays the same in later versions; several findings may have it. */
  readonly id: string;
  readonly severity: Severity;
  /** A sentence about what was seen. */
  readonly seen: string;
  /** A sentence about what to do; `null` when it is `ok`. */
  readonly advice: string | null;
};

/** What a group has seen: one thing, or several. */
export type Seen = Finding | readonly Finding[];

export const ok = (id: string, seen: string): Finding => ({ id, severity: 'ok', seen, advice: null });

const withAdvice =
  (severity: Severity) =>
  (id: string, seen: string, advice: string): Finding => ({ id, severity, seen, advice });

/** Something to know, or that cannot be seen from here. */
export const note = withAdvice('note');
/** Something that works, but is risky or probably not intended. */
export const warning = withAdvice('warning');
export const problem = withAdvice('problem');

/** Milliseconds that one connection, and one question to a server, may take. */
export const QUESTION_TIMEOUT = 3_000;
