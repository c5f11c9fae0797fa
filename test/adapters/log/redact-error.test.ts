// Proves theft-5
import { describe, expect, it } from 'vitest';
import { reasonOf, redactError } from '../../../src/adapters/log/redact-error.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';

const thrownBy = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return expect.unreachable('nothing was thrown');
};

// Casts of these two make the compiler accept the bugs under test.
const secret: unknown = 'hunter22';
const nothing: unknown = undefined;

describe('redactError', () => {
  it.each<[message: string, bug: () => unknown]>([
    ["Cannot read properties of undefined (reading 'a')", () => (nothing as { a: 1 }).a],
    ['secret is not a function', () => (secret as () => void)()],
    ['nobody is not defined', () => new Function('return nobody')()],
  ])('keeps a message of the engine that contains only names in code: %s', (message, bug) => {
    expect(redactError(thrownBy(bug))).toMatchObject({ message, stack: expect.stringMatching(/^ {4}at /) });
  });

  it.each<[string, () => unknown]>([
    ['a string that is not an object', () => 'a' in (secret as object)],
    ['a string that is not a callback', () => [1].map(secret as () => void)],
    ['a string that is not a resolver', () => new Promise(secret as () => void)],
    [
      'a string with members',
      () => {
        (secret as { a: number }).a = 1;
      },
    ],
    ['a text that was parsed', () => JSON.parse(String(secret))],
    [
      'a TypeError of the application',
      () => {
        throw new TypeError(String(secret));
      },
    ],
  ])('drops a message that may quote a value: %s', (_what, bug) => {
    const redacted = redactError(thrownBy(bug));
    expect(redacted).toMatchObject({ type: expect.any(String), stack: expect.any(String) });
    expect(JSON.stringify(redacted)).not.toContain('hunter22');
  });

  it('keeps type and code when they are single words', () => {
    const error = Object.assign(new Error('a'), { name: 'DriverError', code: '23505' });
    expect(redactError(error)).toMatchObject({ type: 'DriverError', code: '23505' });
    const wordy = Object.assign(new Error('a'), { name: 'hunter22 was here', code: 'hunter22 too' });
    expect(JSON.stringify(redactError(wordy))).not.toContain('hunter22');
  });

  it('never throws, whatever was thrown', () => {
    const throwingError = Object.defineProperty(new Error('a bug'), 'name', {
      get: () => {
        throw new Error('hands off');
      },
    });
    expect(redactError(throwingError)).toEqual({ type: 'unreadable' });
    expect(reasonOf(throwingError)).toBe('');
    for (const thrown of [undefined, null, 'hunter22', 7]) {
      expect(redactError(thrown)).toEqual({ type: typeof thrown });
      expect(reasonOf(thrown)).toBe('');
    }
  });

  it('keeps message and reason of an AppError', () => {
    const error = new AppError('DB_QUERY_FAILED', { reason: 'the database is away' });
    expect(redactError(error)).toEqual({
      type: 'AppError',
      code: 'DB_QUERY_FAILED',
      message: error.message,
      reason: 'the database is away',
      stack: expect.stringMatching(/^ {4}at /),
    });
  });

  it('includes up to three causes', () => {
    const chain = [4, 3, 2, 1].reduce<Error | undefined>(
      (cause, n) => Object.assign(new Error('hunter22', { cause }), { code: `E${n}` }),
      undefined,
    );
    const text = JSON.stringify(redactError(new Error('top', { cause: chain })));
    expect(text).toContain('E3');
    expect(text).not.toMatch(/E4|hunter22/);
    const loop = new Error('hunter22');
    loop.cause = loop;
    expect(JSON.stringify(redactError(loop))).not.toContain('hunter22');
  });
});

describe('the reason of an error', () => {
  const EMAIL = 'secret.address@example.org';
  const anError = (members: object, message = EMAIL) => Object.assign(new Error(message), members);

  it.each<[what: string, error: unknown, reason: string]>([
    ['names of a database', anError({ code: '23505', table: 'users', routine: 'check' }), 'Error 23505 users check'],
    ['the message of a lost connection', new Error('Connection terminated'), 'Error (Connection terminated)'],
    ['the code of a reply of Redis', anError({ name: 'ReplyError' }, `OOM no: ${EMAIL}`), 'ReplyError OOM'],
    ['the system code', anError({ code: 'ECONNREFUSED' }), 'Error ECONNREFUSED'],
    ['the type of an HTTP error', anError({ type: 'entity.too.large' }), 'Error entity.too.large'],
  ])('contains %s', (_what, error, reason) => {
    expect(reasonOf(error)).toBe(reason);
  });

  it.each<[what: string, error: unknown, reason: string]>([
    [
      'a field that is more than a name',
      anError({
        code: '23505',
        table: 'users; --',
        constraint: `users_email_key (${EMAIL})`,
        routine: EMAIL,
        type: EMAIL,
        detail: `Key (email)=(${EMAIL}) already exists.`,
      }),
      'Error 23505',
    ],
    ['a message that only starts like a reply of Redis', new Error(`SECRET ${EMAIL}`), 'Error'],
    ['a message that only starts like a known one', new Error(`Connection terminated: ${EMAIL}`), 'Error'],
    ['a name that is not an identifier', anError({ name: EMAIL }), ''],
  ])('does not contain %s', (_what, error, reason) => {
    expect(reasonOf(error)).toBe(reason);
  });
});
