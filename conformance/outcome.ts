/** The instance does not do what was expected. Both texts are made safe and short before they are printed. */
export class Mismatch extends Error {
  readonly expected: string;
  readonly got: string;

  constructor(expected: string, got: string) {
    super(`expected ${expected}`);
    this.expected = expected;
    this.got = got;
  }
}

/** The check needs something that this instance or this run does not have. */
export class Skipped extends Error {}
