import { printableJson } from '../../printable.ts';

/** Parts of a text. Each is made when it is asked for, so that a long list takes little memory. */
type Parts = AsyncIterable<string> | readonly string[];

/** What a command answers, of which one is printed: `json` for programs, `text` for people. */
export type Answer = { readonly json: Parts; readonly text: Parts };

export const answer = (report: object, text: string): Answer => ({ json: [`${jsonOf(report)}\n`], text: [text] });

const TIME = /^(?:at|\w+At)$/;

/** One line, with times in ISO 8601. A password that was never changed has none. */
export const jsonOf = (report: object): string => printableJson(JSON.stringify(report, withTimes));

const withTimes = (name: string, value: unknown): unknown => {
  if (!TIME.test(name) || typeof value !== 'number') return value;
  return value === 0 ? null : new Date(value).toISOString();
};

/** The report in one line, whose last member is the list `events`. */
export const jsonWithEvents = async function* (
  report: object,
  pages: AsyncIterable<readonly object[]>,
): AsyncGenerator<string> {
  yield `${jsonOf(report).slice(0, -1)},"events":[`;
  let separator = '';
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield separator + page.map(jsonOf).join(',');
    separator = ',';
  }
  yield ']}\n';
};

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
