/** A command did not do what it was asked for, because of what it found. It has changed nothing. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** For programs: stays the same in later versions. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
