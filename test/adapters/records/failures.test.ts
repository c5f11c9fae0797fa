// Proves SPEC 20.17; network-6

import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inspect } from 'node:util';
import type { CompiledQuery } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { framesOf } from '../../../src/adapters/log/redact-error.ts';
import { errorTranslator, POSTGRESQL, SQLITE, type SqlDialect } from '../../../src/adapters/mikro-orm/dialects.ts';
import { mikroOrmRecords } from '../../../src/adapters/mikro-orm/records.ts';
import { sessionRepositoryOver } from '../../../src/adapters/records/sessions.ts';
import { onDatabaseFailure, storageOver } from '../../../src/adapters/records/storage.ts';
import { userRepositoryOver } from '../../../src/adapters/records/users.ts';
import { storeRecoveryCodes, useRecoveryCode } from '../../../src/application/storage/credentials.ts';
import { changeRow } from '../../../src/application/storage/rows.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { rejection } from '../../contracts/hooks.ts';
import { aFactor, aSession, aUser, NOW } from '../../support/builders.ts';
import { failing, QUOTING, recording } from '../../support/records/statements.ts';
import { onSqlite, openEmbedded, openOnPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { type Database, openDatabase } from '../../support/storage/open-database.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const EMAIL = 'secret.address@example.org';
const HASH = '$2b$10$secretHashOfSomebody';
const secretUser = () => aUser({ username: 'SecretName', email: EMAIL, passwordHash: HASH });
const SECRETS = ['secret.address', 'secrethash', 'secretname', 'insert into'];

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
  return SECRETS.filter((secret) => text.includes(secret));
};

/** The classes of failures that are counted until the test ends. */
const counted = (): readonly string[] => {
  const published: string[] = [];
  onTestFinished(onDatabaseFailure((each) => published.push(each)));
  return published;
};

type Kind = {
  readonly on: string;
  readonly open: () => Promise<Database>;
  readonly dialect: SqlDialect;
  readonly quoting: (text: string) => CompiledQuery;
  /** What a reason begins with: a code, and no more of the driver's message. */
  readonly code: RegExp;
};
const KINDS: readonly Kind[] = [
  { on: 'SQLite', open: openEmbedded, dialect: SQLITE, quoting: QUOTING.sqlite, code: /^SQLite \d+ \([a-zA-Z ]+\)$/ },
  ...(TEST_DATABASE_URL === undefined
    ? []
    : [
        {
          on: 'PostgreSQL',
          open: () => openOnPostgresql(TEST_DATABASE_URL ?? ''),
          dialect: POSTGRESQL,
          quoting: QUOTING.postgresql,
          code: /\b[0-9A-Z]{5}\b/,
        },
      ]),
];

describe.each(KINDS)('an error of $on', ({ open, dialect, quoting, code }) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  beforeEach(async () => {
    await database.em.execute('delete from users');
  });
  const translate = (error: unknown) => rejection(errorTranslator(dialect.failureOf)(() => Promise.reject(error)));

  it('has no secret of what was sent, and the stack frames of the driver without its message', async () => {
    const raw = (value: string) => database.em.getKysely().executeQuery(quoting(value));
    const records = mikroOrmRecords(failing(database.em.getKysely(), quoting), dialect);
    for (const secret of [EMAIL, HASH]) expect(secretsIn(await rejection(raw(secret)))).not.toEqual([]);
    const error = await rejection(userRepositoryOver(records).add(secretUser()));
    if (!(error instanceof AppError)) return expect.unreachable();
    expect(error.code).toBe('DB_QUERY_FAILED');
    expect(secretsIn(error)).toEqual([]);
    expect(error.cause).toBeUndefined();
    expect(error.reason).toMatch(code);
    expect(framesOf(error)).toMatch(/dialects\.ts[\s\S]*(?:node_modules|node:)/);
  });

  it('is counted once, also within a unit; an error of the work is none of the database', async () => {
    const records = mikroOrmRecords(failing(database.em.getKysely(), quoting), dialect);
    const published = counted();
    await rejection(records.list('users', { equal: { id: 'a' } }));
    expect(published).toEqual(['other']);
    await rejection(
      database.records.unit(async (inside) => {
        await sessionRepositoryOver(inside).add(aSession());
      }),
    );
    expect(published).toEqual(['other', 'other']);
    const bug = new TypeError(EMAIL);
    expect(await rejection(database.records.unit(() => Promise.reject(bug)))).toBe(bug);
    expect(published).toHaveLength(2);
  });

  it('leaves an AppError as it is, and translates what is no error', async () => {
    const error = new AppError('AUTH_FAILED');
    expect(await translate(error)).toBe(error);
    for (const thrown of [undefined, null, EMAIL, 7, {}])
      expect(await translate(thrown)).toMatchObject({ code: 'DB_QUERY_FAILED', reason: '', cause: undefined });
  });

  it('is DB_QUERY_FAILED with the system code when the database is unavailable', async () => {
    const refused = await new Promise((resolve) => connect(1, '127.0.0.1').on('error', resolve));
    const published = counted();
    expect(await translate(refused)).toMatchObject({ code: 'DB_QUERY_FAILED', reason: 'Error ECONNREFUSED' });
    expect(published).toEqual(['connection']);
  });
});

/** SQLSTATEs (PostgreSQL manual, appendix A), and their class in the metrics. */
const CONDITIONS = [
  ['a lost connection', '08006', 'connection'],
  ['a refused connection', '08001', 'connection'],
  ['too many connections', '53300', 'capacity'],
  ['a cancelled statement', '57014', 'timeout'],
  ['a shutdown of the database', '57P01', 'connection'],
  ['a syntax error', '42601', 'other'],
  ['a missing table', '42P01', 'other'],
  ['a serialization failure', '40001', 'conflict'],
  ['a deadlock', '40P01', 'conflict'],
  ['a server that is read-only', '25006', 'read-only'],
  ['a full disk', '53100', 'capacity'],
  ['a lock that is not released', '55P03', 'timeout'],
] as const;

describe.runIf(TEST_DATABASE_URL !== undefined)('a condition of PostgreSQL', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openOnPostgresql(TEST_DATABASE_URL ?? '');
  });

  it.each(CONDITIONS)('for %s is DB_QUERY_FAILED, and has a class', async (_what, sqlState, failure) => {
    const published = counted();
    const raise = () => database.em.execute(`do $$ begin raise exception 'no' using errcode = '${sqlState}'; end $$`);
    expect(await rejection(errorTranslator(POSTGRESQL.failureOf)(raise))).toMatchObject({
      code: 'DB_QUERY_FAILED',
      status: 500,
      level: 'error',
      reason: expect.stringContaining(sqlState),
    });
    expect(published).toEqual([failure]);
  });
});

describe('a condition of SQLite', () => {
  const FILL = 'insert into used_values values (hex(zeroblob(1000000)), 1, 1)';
  type Send = (statement: string) => Promise<unknown>;

  it.each([
    ['a full disk', 13, 'capacity', (send: Send) => send('pragma max_page_count = 1')],
    ['a file that is read-only', 8, 'read-only', (send: Send) => send('pragma query_only = on')],
    ['a file that another process writes', 5, 'conflict', (_send: Send, path: string) => writing(path)],
  ])('for %s is DB_QUERY_FAILED, and has a class', async (_what, code, failure, cause) => {
    const { path: directory } = temporaryDirectory();
    const path = join(directory, 'test.sqlite');
    const { em } = await openDatabase(onSqlite(path), { migrate: true });
    await cause((statement) => em.execute(statement), path);
    const published = counted();
    const error = await rejection(errorTranslator(SQLITE.failureOf)(() => em.execute(FILL)));
    expect(error).toMatchObject({ code: 'DB_QUERY_FAILED', reason: expect.stringMatching(`^SQLite ${code} \\(`) });
    expect(published).toEqual([failure]);
  });

  /** Writes until the test ends. */
  const writing = async (path: string) => {
    const other = new DatabaseSync(path);
    onTestFinished(() => other.close());
    other.exec('begin immediate');
  };
});

describe('the text of a statement, which a server logs beside an error', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openEmbedded();
  });

  it('has no hash and no secret in it', async () => {
    const { db, sent } = recording(database.em.getKysely());
    const { users, records } = storageOver(mikroOrmRecords(db, SQLITE));
    const user = aUser({ passwordHash: 'hash-of-password' });
    const { id: userId } = user;
    const factor = aFactor({ userId, secret: 'secret-of-app' });
    await users.add(user);
    await users.setPasswordHash(userId, { passwordHash: 'hash-of-another', isOfNewPassword: true, now: NOW });
    await records.insert('factors', factor);
    const { id } = factor;
    await changeRow(records, 'factors', { id }, (row) => ({ ...row, secret: 'secret-of-another' }));
    await storeRecoveryCodes(records, userId, ['hash-of-code']);
    expect(await useRecoveryCode(records, userId, 'hash-of-code')).toBe(true);
    expect(sent.length).toBeGreaterThan(6);
    expect(sent.join('\n')).not.toMatch(/hash-of|secret-of/);
  });
});
