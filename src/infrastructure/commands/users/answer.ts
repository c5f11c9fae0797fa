import { printableJson } from '../../printable.ts';

/** The result of a command: `json` for programs, `text` for people. One of them is printed. */
export type Answer = { readonly json: string; readonly text: string };

export const answer = (report: object, text: string): Answer => ({ json: `${jsonOf(report)}\n`, text });

const TIME = /^(?:at|\w+At)$/;

/** One line, with times in ISO 8601; 0, for a password that was never changed, becomes `null`. */
export const jsonOf = (report: object): string => printableJson(JSON.stringify(report, withTimes));

const withTimes = (name: string, value: unknown): unknown => {
  if (!TIME.test(name) || typeof value !== 'number') return value;
  return value === 0 ? null : new Date(value).toISOString();
};

/** 0 done, 1 refused or failed, 2 invalid arguments or configuration, 3 no such user. */
export type Status = 0 | 1 | 2 | 3;

/** The error of a command, with its exit status. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly status: Status;
  /** For programs: stays the same in later versions. */
  readonly code: string;

  constructor(status: Status, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}
