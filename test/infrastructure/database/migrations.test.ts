import { MikroORM } from '@mikro-orm/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mikroOrmEventRepository } from '../../../src/adapters/event-repository/mikro-orm.ts';
import { mikroOrmRememberedDeviceRepository } from '../../../src/adapters/remembered-device-repository/mikro-orm.ts';
import { mikroOrmSessionRepository } from '../../../src/adapters/session-repository/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../../src/adapters/user-repository/mikro-orm.ts';
import { NO_KEYS } from '../../../src/domain/device-binding.ts';
import { EVENTS_KEPT, shortUserAgent } from '../../../src/domain/event.ts';
import type { DatabaseOptions } from '../../../src/infrastructure/config/stores.ts';
import { type Database, openDatabase } from '../../../src/infrastructure/database/database.ts';
import { migratorOptions } from '../../../src/infrastructure/database/migrate.ts';
import { anEvent, anId, aRotation, aSession, aUser } from '../../support/builders.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { copyEmbedded } from '../../support/storage/embedded-template.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

/** Before the time of any database: only what has expired by its clock is purged. */
const PAST = Date.UTC(2020, 0, 1);

const FIRST = '0001-users-and-sessions';

const USER = aUser({ username: 'Ada' });
const SESSION = aSession({ userId: USER.id, previousTokenId: anId() });

/** Inserts a session with the columns of the first release. */
const insertAsFirst = async (em: Database['em'], session: typeof SESSION): Promise<void> => {
  await em.execute(
    `insert into sessions (id, user_id, current_token_id, previous_token_id, rotated_at, created_at, expires_at)
      values (?, ?, ?, ?, ?, ?, ?)`,
    [
      session.id,
      session.userId,
      session.currentTokenId,
      session.previousTokenId,
      session.rotatedAt,
      session.createdAt,
      session.expiresAt,
    ],
  );
};

const insertUserAsFirst = async (em: Database['em'], user: typeof USER): Promise<void> => {
  await em.execute(
    `insert into users (id, username, username_canonical, email, password_hash, created_at, updated_at)
      values (?, ?, ?, ?, ?, ?, ?)`,
    [
      user.id,
      user.username,
      user.username.toLowerCase(),
      user.email,
      user.passwordHash,
      user.createdAt,
      user.updatedAt,
    ],
  );
};

/** Rotates a session with the columns that a version before the keys of devices wrote. @returns the new current token. */
const rotateWithoutKeys = async (em: Database['em'], session: typeof SESSION): Promise<string> => {
  const { sessionId, from, number, to, at, expiresAt } = aRotation(session);
  await em.execute(
    `update sessions set current_token_id = ?, previous_token_id = ?, rotated_at = ?, rotation = ?, run_started_at = ?, run_first = ?,
      expires_at = ?, purge_check_at = least(purge_check_at, ?) where id = ? and current_token_id = ?`,
    [to, from, at, number + 1, at, number, expiresAt, expiresAt, sessionId, from],
  );
  return to;
};

const keyOf = (session: typeof SESSION | undefined) => ({ id: session?.id, userId: session?.userId });

/** Creates the schema of an older version with one user who is logged in. */
const fillOlder = async (options: DatabaseOptions, version = FIRST): Promise<void> => {
  const orm = await MikroORM.init({ ...(await migratorOptions(options)), logger: () => undefined });
  await orm.migrator.up({ to: version });
  await insertUserAsFirst(orm.em, USER);
  await insertAsFirst(orm.em, SESSION);
  await orm.close();
};

/** Inserts events with the columns that they had before they were bounded, one a millisecond from `from` on. */
const insertUnbounded = (em: Database['em'], kind: string, { from, count, userAgent = '' }: Unbounded) =>
  em.execute(
    `insert into events (id, user_id, kind, at, user_agent, address)
      select lpad(n::text, 26, '0'), ?, ?, n, ?, '192.0.2.0/24' from generate_series(?::int, ?::int) n`,
    [USER.id, kind, userAgent, from, from + count - 1],
  );
type Unbounded = { readonly from: number; readonly count: number; readonly userAgent?: string };

/** The files of the tables; rewriting a table would change them. */
const filesOf = async ({ em }: Database): Promise<unknown> =>
  em.execute("select pg_relation_filenode('users') as users, pg_relation_filenode('sessions') as sessions");

type Make = () => Promise<{ options: DatabaseOptions; drop: () => unknown }>;

const describeUpgrade = (name: string, make: Make) =>
  describe(`a ${name} of the first version with rows`, () => {
    it('is upgraded without rewriting its tables, and keeps its rows', async () => {
      const { options, drop } = await make();
      onTestFinished(async () => void (await drop()));
      await fillOlder(options);
      const database = await openDatabase(options, { migrate: false });
      onTestFinished(() => database.close());
      const before = await filesOf(database);
      await database.migrate();
      expect(await filesOf(database)).toEqual(before);

      const [users, sessions] = [mikroOrmUserRepository(database), mikroOrmSessionRepository(database)];
      expect(await users.findByUsername('ADA')).toStrictEqual(USER);
      expect(await sessions.listByUser(USER.id, SESSION.createdAt)).toStrictEqual([SESSION]);
      const rotation = aRotation(SESSION);
      expect(await sessions.rotate(rotation)).toHaveProperty('user');
      expect(await sessions.find(SESSION)).toMatchObject({ currentTokenId: rotation.to });

      const device = { userAgent: 'a browser', address: '192.0.2.0/24' };
      const opened = aSession({ userId: USER.id, ...device });
      await sessions.add(opened);
      expect(await sessions.find(opened)).toStrictEqual(opened);

      const disabled = { ...USER, emailVerifiedAt: 1, disabledAt: 2, updatedAt: 3 };
      expect(await users.update(USER.id, { emailVerifiedAt: 1, disabledAt: 2, now: 3 })).toStrictEqual(disabled);
      expect(await users.findById(USER.id)).toStrictEqual(disabled);
    });

    it('keeps the remembered devices that were sessions', async () => {
      const { options, drop } = await make();
      onTestFinished(async () => void (await drop()));
      await fillOlder(options, '0017-attributes');
      const database = await openDatabase(options, { migrate: false });
      onTestFinished(() => database.close());
      const remembered = aSession({ userId: USER.id, userAgent: 'a browser', address: '192.0.2.0/24' });
      await insertAsFirst(database.em, remembered);
      const { id, createdAt, expiresAt, userAgent, address } = remembered;
      const written = "update sessions set amr = '', user_agent = ?, address = ? where id = ?";
      await database.em.execute(written, [userAgent, address, id]);
      await database.migrate();
      expect((await mikroOrmSessionRepository(database).listByUser(USER.id, 0)).map((each) => each.id)).toEqual([
        SESSION.id,
      ]);
      const devices = await mikroOrmRememberedDeviceRepository(database).listByUser(USER.id, 0);
      expect(devices).toStrictEqual([{ id, userId: USER.id, createdAt, expiresAt, userAgent, address }]);
    });

    it('has at most a thousand events of a user, and still gets some from instances that count none', async () => {
      const { options, drop } = await make();
      onTestFinished(async () => void (await drop()));
      await fillOlder(options, '0006-account-life');
      const database = await openDatabase(options, { migrate: false });
      onTestFinished(() => database.close());
      const userAgent = 'x'.repeat(250);
      await insertUnbounded(database.em, 'registered', { from: 1, count: 1, userAgent });
      await insertUnbounded(database.em, 'logged-in', { from: 2, count: EVENTS_KEPT + 9 });
      await database.migrate();
      const events = mikroOrmEventRepository(database);
      const times = async () =>
        (await events.list({ userId: USER.id, before: null, limit: 2_000 })).map(({ at }) => at);
      expect(await times()).toEqual([...Array.from({ length: EVENTS_KEPT - 1 }, (_, at) => EVENTS_KEPT + 10 - at), 1]);
      const device = { userAgent: shortUserAgent(userAgent), address: '192.0.2.0/24' };
      expect(await events.knowsDevice(USER.id, device)).toBe(true);
      await insertUnbounded(database.em, 'logged-in', { from: 5_000, count: 2 });
      expect((await times()).slice(0, 2)).toEqual([5_001, 5_000]);
    });
  });

/** Only instances that share a PostgreSQL can be of two versions. */
const describeTwoVersions = (name: string, make: Make) =>
  describe(`a ${name} that instances of the first version and of this one share`, () => {
    it('still serves an instance of the first version while instances are replaced one by one', async () => {
      const { options, drop } = await make();
      onTestFinished(async () => void (await drop()));
      await fillOlder(options);
      const database = await openDatabase(options, { migrate: true });
      onTestFinished(() => database.close());
      const user = aUser();
      await insertUserAsFirst(database.em, user);
      expect(await mikroOrmUserRepository(database).findById(user.id)).toStrictEqual(user);
      const session = aSession({ userId: USER.id });
      await insertAsFirst(database.em, session);
      expect(await mikroOrmSessionRepository(database).find(session)).toStrictEqual(session);
    });

    it('takes events of instances that know no actors, and gives them those of operators', async () => {
      const { options, drop } = await make();
      onTestFinished(async () => void (await drop()));
      await fillOlder(options, '0009-mailboxes');
      const database = await openDatabase(options, { migrate: true });
      onTestFinished(() => database.close());
      const events = mikroOrmEventRepository(database);
      await insertUnbounded(database.em, 'registered', { from: 1, count: 1 });
      await events.add([anEvent({ userId: USER.id, kind: 'disabled', actor: 'Una' })]);
      expect(await events.list({ userId: USER.id, before: null, limit: 5 })).toMatchObject([
        { kind: 'disabled', actor: 'Una' },
        { kind: 'registered', actor: null },
      ]);
      const asBefore =
        'select kind, session_id, reason, count, request_id, user_agent, address from events order by id';
      expect(await database.em.execute(asBefore)).toMatchObject([{ kind: 'registered' }, { kind: 'disabled' }]);
    });

    it('keeps its sessions without a key, and the keys of others while instances rotate that know none', async () => {
      const { options, drop } = await make();
      onTestFinished(async () => void (await drop()));
      await fillOlder(options, '0010-actors-of-events');
      const database = await openDatabase(options, { migrate: true });
      onTestFinished(() => database.close());
      const sessions = mikroOrmSessionRepository(database);
      const later = aSession({ userId: USER.id });
      await insertAsFirst(database.em, later);
      const keys = { deviceKey: 'a key of a page', browserKey: 'a key of a browser', proofs: [9, 4] };
      const bound = aSession({ userId: USER.id, ...keys });
      await sessions.add(bound);
      for (const [session, expected] of [
        [SESSION, NO_KEYS],
        [later, NO_KEYS],
        [bound, keys],
      ] as const) {
        expect(await sessions.find(session)).toMatchObject({ id: session.id, ...expected });
        const currentTokenId = await rotateWithoutKeys(database.em, session);
        const rotated = await sessions.find(session);
        expect(rotated).toMatchObject({ currentTokenId, ...expected });
        expect(await sessions.rotate(aRotation(rotated ?? session))).toHaveProperty('user');
      }
    });

    it('is purged of what the first version wrote before and after the upgrade', async () => {
      const { options, drop } = await make();
      onTestFinished(async () => void (await drop()));
      await fillOlder(options);
      const database = await openDatabase(options, { migrate: false });
      onTestFinished(() => database.close());
      const [before, after, refreshed] = [2, 1, 0].map((age) => aSession({ userId: USER.id, expiresAt: PAST - age }));
      for (const session of [before, refreshed]) if (session) await insertAsFirst(database.em, session);
      await database.migrate();
      if (after) await insertAsFirst(database.em, after);
      const sessions = mikroOrmSessionRepository(database);
      expect(await sessions.purge(PAST - 1, 1)).toEqual([keyOf(before)]);
      await database.em.execute('update sessions set expires_at = ? where id = ?', [PAST + 2, refreshed?.id]);
      expect(await sessions.purge(PAST + 1, 10)).toEqual([keyOf(after)]);
      expect((await sessions.listByUser(USER.id, 0)).map(({ id }) => id).sort()).toEqual(
        [SESSION.id, refreshed?.id].sort(),
      );
      expect(await sessions.purge(PAST + 2, 10)).toEqual([keyOf(refreshed)]);
    });
  });

describeUpgrade('PGlite', async () => {
  const { path, remove } = temporaryDirectory();
  await copyEmbedded(path, { migrated: false });
  return { options: { kind: 'embedded', dataDir: path }, drop: remove };
});

const server = TEST_DATABASE_URL;
if (server !== undefined) {
  const make = async () => {
    const { url, drop } = await createDatabase(server);
    return { options: onPostgresql(url), drop };
  };
  describeUpgrade('PostgreSQL', make);
  describeTwoVersions('PostgreSQL', make);
}
