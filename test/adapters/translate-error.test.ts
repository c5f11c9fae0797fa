import { connect } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { translated, translateError } from '../../src/adapters/mikro-orm/queries.ts';
import type { NewRow, Tables } from '../../src/adapters/mikro-orm/rows.ts';
import { framesOf } from '../../src/adapters/redaction/redact-error.ts';
import { mikroOrmSessionRepository } from '../../src/adapters/session-repository/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../src/adapters/user-repository/mikro-orm.ts';
import type { UserRepository } from '../../src/application/ports/user-repository.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import type { Database } from '../../src/infrastructure/database/database.ts';
import { anId, aSession, aUser } from '../support/builders.ts';
import { openEmbedded } from '../support/storage/databases.ts';

const EMAIL = 'secret.address@example.org';
const HASH = '$2b$10$secretHashOfSomebody';
const secretUser = () => aUser({ username: 'SecretName', email: EMAIL, passwordHash: HASH });
const SECRETS = ['secret.address', 'secretHash', 'secretname', 'insert into'];

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.unreachable('the promise was fulfilled'),
    (error: unknown) => error,
  );

/** The AppError with which a promise rejects. */
const appErrorOf = async (promise: Promise<unknown>): Promise<AppError> => {
  const error = await rejection(promise);
  return error instanceof AppError ? error : expect.unreachable('the promise was rejected with another error');
};

/** All text that can be read from a value: enumerable or not, at any depth. */
const everythingIn = (value: unknown, seen = new Set<unknown>()): string => {
  if (typeof value !== 'object' || value === null) return String(value);
  if (seen.has(value)) return '';
  seen.add(value);
  return Reflect.ownKeys(value)
    .map((key) => `${String(key)}: ${everythingIn(Reflect.get(value, key), seen)}`)
    .concat(JSON.stringify(value), inspect(value, { showHidden: true, depth: Infinity }))
    .join('\n');
};

const secretsIn = (value: unknown): string[] => {
  const text = everythingIn(value).toLowerCase();
  return SECRETS.filter((secret) => text.includes(secret.toLowerCase()));
};

describe('translateError', () => {
  let database: Database;
  let users: UserRepository;
  beforeAll(async () => {
    database = await openEmbedded();
    users = mikroOrmUserRepository(database);
  });
  afterAll(() => database?.close());
  beforeEach(async () => {
    await database.em.execute('delete from users');
  });

  /** Inserts values that the columns' types may not allow. */
  const insert = (row: Partial<Record<keyof NewRow<'users'>, unknown>>) =>
    database.em
      .getKysely<Tables>()
      .insertInto('users')
      .values(row as NewRow<'users'>)
      .execute();

  // Proves: catalog-13
  it('returns AUTH_USER_DUPLICATE for a taken username and for a taken email, with the constraint as its reason', async () => {
    await users.add(secretUser());
    expect(await rejection(users.add(aUser({ username: 'secretname' })))).toMatchObject({
      code: 'AUTH_USER_DUPLICATE',
      reason: expect.stringContaining('23505 users users_username_canonical_key'),
    });
    expect(await rejection(users.add(aUser({ email: EMAIL })))).toMatchObject({
      code: 'AUTH_USER_DUPLICATE',
      reason: expect.stringContaining('23505 users users_email_key'),
    });
  });

  // Proves: catalog-14
  it('returns DB_UNIQUE_VIOLATION for any other unique constraint', async () => {
    const user = secretUser();
    await users.add(user);
    expect(await rejection(users.add(aUser({ id: user.id })))).toMatchObject({
      code: 'DB_UNIQUE_VIOLATION',
      reason: expect.stringContaining('23505 users users_pkey'),
    });
  });

  it('returns DB_QUERY_FAILED for any other error of the database', async () => {
    const sessions = mikroOrmSessionRepository(database);
    expect(await rejection(sessions.add(aSession()))).toMatchObject({
      code: 'DB_QUERY_FAILED',
      reason: expect.stringContaining('23503 sessions sessions_user_id_fkey'),
    });
    expect(await rejection(translated(() => database.em.execute('selec 1')))).toMatchObject({
      code: 'DB_QUERY_FAILED',
      reason: expect.stringContaining('SyntaxErrorException 42601'),
    });
  });

  // Proves: catalog-17
  it('returns DB_QUERY_FAILED with the system code when the database is unavailable', async () => {
    const refused = new Promise((_, reject) => connect(1, '127.0.0.1').on('error', reject));
    expect(await rejection(translated(() => refused))).toMatchObject({
      code: 'DB_QUERY_FAILED',
      reason: 'Error ECONNREFUSED',
    });
  });

  it('contains no secret of the driver’s error', async () => {
    const user = secretUser();
    await users.add(user);
    const row = { id: anId(), username: 'SecretName', username_canonical: 'secretname', password_hash: HASH };
    const insertion = `insert into users values ('${anId()}', 'a', 'a', '${EMAIL}', '${HASH}', 1, 1)`;
    const failures = [
      () => insert({ ...row, email: EMAIL, created_at: 1, updated_at: 1 }),
      () => insert({ ...row, username_canonical: 'other', email: EMAIL, created_at: 1, updated_at: 1 }),
      () => insert({ ...row, username_canonical: 'other', email: 'other', created_at: 'secretHash', updated_at: 1 }),
      () => insert({ ...row, id: `${user.id}${EMAIL}`, email: 'other', created_at: 1, updated_at: 1 }),
      () => insert({ ...row, username_canonical: 'other' }),
      () => database.em.execute(insertion),
      () => database.em.execute(`select '${EMAIL}'::bigint`),
    ];
    for (const fail of failures) {
      const raw = await rejection(fail());
      expect(secretsIn(raw)).not.toEqual([]);
      const error = await appErrorOf(translated(fail));
      expect(secretsIn(error)).toEqual([]);
      expect(error.cause).toBeUndefined();
      expect(error.reason).toMatch(/\b[0-9A-Z]{5}\b/);
    }
  });

  it('leaves an AppError as it is', async () => {
    const error = new AppError('AUTH_FAILED');
    expect(translateError(error)).toBe(error);
    expect(await rejection(translated(() => Promise.reject(error)))).toBe(error);
  });

  it('translates synchronous exceptions, and thrown values that are not errors', async () => {
    const throwing = () => {
      throw new Error(EMAIL);
    };
    expect(await rejection(translated(throwing))).toMatchObject({ code: 'DB_QUERY_FAILED', reason: 'Error' });
    for (const thrown of [undefined, null, EMAIL, 7, {}]) {
      expect(translateError(thrown)).toMatchObject({ code: 'DB_QUERY_FAILED', reason: '' });
    }
  });

  it.each([
    ['TypeError', () => Reflect.get(Object(undefined), 'a').b],
    ['RangeError', () => 'a'.repeat(-1)],
  ])('returns SYS_UNEXPECTED_ERROR for a bug before the query is sent: %s', async (reason, bug) => {
    const error = await appErrorOf(translated(() => bug() ?? database.em.execute('select 1')));
    expect(error).toMatchObject({ code: 'SYS_UNEXPECTED_ERROR', reason, cause: undefined });
    expect(error.stack).toContain('translate-error.test.ts');
  });

  it('returns DB_QUERY_FAILED for a bug in the driver', async () => {
    const broken = () => Promise.reject(new TypeError(EMAIL));
    expect(await rejection(translated(broken))).toMatchObject({ code: 'DB_QUERY_FAILED', reason: 'TypeError' });
  });

  it('adds the stack frames of the driver’s error to its own, without its message', async () => {
    const error = await appErrorOf(translated(() => database.em.execute('selec 1')));
    expect(framesOf(error)).toMatch(/queries\.ts[\s\S]*node_modules/);
    expect(error.stack).not.toMatch(/selec|syntax/);
  });

  it('has no stack frames of the driver when the client caused the error', async () => {
    await users.add(secretUser());
    const error = await appErrorOf(users.add(aUser({ email: EMAIL })));
    expect(error.code).toBe('AUTH_USER_DUPLICATE');
    expect(error.stack).not.toContain('node_modules/@electric-sql');
  });
});
