import type { Reply } from './client.ts';
import { Mismatch } from './outcome.ts';

type Members = Readonly<Record<string, unknown>>;

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;
const ISO_8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/;

export const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing';
const shown = ({ to, status, text }: Reply): string => `${status} to ${to}: ${text === '' ? 'an empty body' : text}`;

/** Throws unless the condition holds. */
export function hold(condition: boolean, expected: string, got: unknown): asserts condition {
  if (!condition) throw new Mismatch(expected, typeof got === 'string' ? got : show(got));
}

export const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The body as a JSON object. */
export const bodyOf = (reply: Reply): Members => {
  let body: unknown;
  try {
    body = JSON.parse(reply.text);
  } catch {
    body = undefined;
  }
  hold(isObject(body), 'a JSON object', shown(reply));
  return body;
};

/** The `data` of a success: the status is 2xx, and `success` is true. */
export const dataOf = (reply: Reply): unknown => {
  hold(reply.status >= 200 && reply.status < 300, 'a status of 2xx', shown(reply));
  const body = bodyOf(reply);
  hold(body.success === true, '"success": true', shown(reply));
  return body.data;
};

/** The `data` of a success, which has to be an object. */
export const membersOf = (reply: Reply): Members => {
  const data = dataOf(reply);
  hold(isObject(data), 'an object as "data"', shown(reply));
  return data;
};

/** The body of an error with this status and one of these codes. */
export const errorOf = (reply: Reply, status: number, ...codes: string[]): Members => {
  hold(reply.status === status, `${status} ${codes.join(' or ')}`, shown(reply));
  const body = bodyOf(reply);
  hold(body.success === false && codes.includes(String(body.code)), `${status} ${codes.join(' or ')}`, shown(reply));
  return body;
};

export const expectMembers = (value: Members, names: readonly string[], of: string): void => {
  const [expected, got] = [[...names].sort(), Object.keys(value).sort()];
  hold(show(expected) === show(got), `the members of ${of}: ${expected.join(', ')}`, got.join(', '));
};

export const expectText = (value: unknown, what: string): string => {
  hold(typeof value === 'string' && value !== '', `${what} as a string`, value);
  return value;
};

export const expectUlid = (value: unknown, what: string): void =>
  hold(typeof value === 'string' && ULID.test(value), `${what} as a ULID`, value);

export const expectIsoTime = (value: unknown, what: string): void =>
  hold(
    typeof value === 'string' && ISO_8601.test(value) && !Number.isNaN(Date.parse(value)),
    `${what} in ISO 8601`,
    value,
  );

export const expectTime = (value: unknown, what: string): void =>
  hold(typeof value === 'string' && !Number.isNaN(Date.parse(value)), `${what} as a timestamp`, value);

/** Compares lists as headers have them: separated by commas, in any order and letter case. */
export const expectList = (reply: Reply, header: string, expected: string): void => {
  const items = (text: string) =>
    text
      .toLowerCase()
      .split(/\s*,\s*/)
      .sort()
      .join(', ');
  const got = String(reply.headers[header.toLowerCase()] ?? '');
  hold(
    items(got) === items(expected),
    `${header}: ${expected}`,
    `${got === '' ? 'no such header' : got} (${reply.to})`,
  );
};

export const expectHeader = (reply: Reply, header: string, expected: string): void => {
  const got = reply.headers[header.toLowerCase()];
  hold(got === expected, `${header}: ${expected}`, `${got ?? 'no such header'} (${reply.to})`);
};
