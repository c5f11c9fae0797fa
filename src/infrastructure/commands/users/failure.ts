/** 0 done, 1 refused or failed, 2 invalid arguments or configuration, 3 no such user. */
export type Status = 0 | 1 | 2 | 3;

/** The command did not do what it was asked for. */
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
