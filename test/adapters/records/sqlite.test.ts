import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SQLITE } from '../../../src/adapters/mikro-orm/dialects.ts';
import { sqliteSessions } from '../../../src/adapters/mikro-orm/one-statement-sessions.ts';
import { mikroOrmRecords } from '../../../src/adapters/mikro-orm/records.ts';
import { connectionOver } from '../../../src/adapters/mikro-orm/statements.ts';
import { sessionRepositoryOver } from '../../../src/adapters/records/sessions.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { userRepositoryOver } from '../../../src/adapters/records/users.ts';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import type { Records } from '../../../src/application/storage/records.ts';
import { absent } from '../../contracts/hooks.ts';
import { describeRecords } from '../../contracts/records.contract.ts';
import { describeSessionRepository } from '../../contracts/storage.contract.ts';
import { aPasskey, aRotation, aSession, aUser } from '../../support/builders.ts';
import { runAtEnd } from '../../support/closing.ts';
import { instanceInThread } from '../../support/records/sqlite-instance.ts';
import { failing, QUOTING, recording } from '../../support/records/statements.ts';
import { onSqlite } from '../../support/storage/databases.ts';
import { type Database, openDatabase, removeAllRows } from '../../support/storage/open-database.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const path = temporaryDirectory().newPath();

const database = await openDatabase(onSqlite(path), { migrate: true });
const another = await instanceInThread(path);
runAtEnd(another.close);

describe('in a file of SQLite', () => {
  const empty = () => removeAllRows(database);
  const failingRecords = (): Records => mikroOrmRecords(failing(database.em.getKysely(), QUOTING.sqlite), SQLITE);

  describeRecords('mikroOrmRecords', async () => {
    await empty();
    return {
      records: database.records,
      another: async () => another.instance.records,
      failing: async () => failingRecords(),
      untilOneWaits: setImmediate,
    };
  });

  describeSessionRepository('sqliteSessions', async () => {
    await empty();
    const over = (records: Records, faster: Database['withFasterMethods']) => {
      const { sessions, ...storage } = storageOver(records);
      return { ...storage, sessions: faster(sessions) };
    };
    const fasterFailing = (plain: SessionRepository) => ({
      ...plain,
      ...sqliteSessions(connectionOver(failing(database.em.getKysely(), QUOTING.sqlite)), plain),
    });
    return {
      storage: over(database.records, database.withFasterMethods),
      another: async () => another.instance,
      failing: async () => over(failingRecords(), fasterFailing),
      interfere: absent('transactions take turns'),
      untilOneWaits: setImmediate,
    };
  });

  it('a refresh and a check of a session are one statement each, also in tables with a prefix', async () => {
    const prefixed = await openDatabase({ ...onSqlite(path), tablePrefix: 'of_auth_' }, { migrate: true });
    const { records, em } = prefixed;
    const user = aUser();
    await userRepositoryOver(records).add(user);
    const session = aSession({ userId: user.id });
    await sessionRepositoryOver(records).add(session);
    await records.insert('passkeys', aPasskey({ userId: user.id }));
    const { db, sent } = recording(em.getKysely());
    const plain = sessionRepositoryOver(mikroOrmRecords(db, SQLITE, 'of_auth_'));
    const repository = { ...plain, ...sqliteSessions(connectionOver(db), plain, 'of_auth_') };
    expect(await repository.rotate(aRotation(session))).toMatchObject({ user });
    expect(sent).toHaveLength(1);
    expect(await repository.findWithUser(session)).toMatchObject({
      user,
      session: { authenticatedAt: session.authenticatedAt },
      passkeys: 1,
    });
    expect(sent).toHaveLength(2);
  });

  it.each([
    { synchronous: 'normal' as const, as: 1 },
    { synchronous: 'full' as const, as: 2 },
  ])('writes a log ahead, and to the disk at each commit if it is to: $synchronous', async ({ synchronous, as }) => {
    const opened = await openDatabase({ ...onSqlite(path), synchronous }, { migrate: true });
    const settings = await Promise.all(
      ['journal_mode', 'synchronous', 'foreign_keys'].map((name) => opened.em.execute(`pragma ${name}`)),
    );
    expect(settings).toEqual([[{ journal_mode: 'wal' }], [{ synchronous: as }], [{ foreign_keys: 1 }]]);
  });
});
