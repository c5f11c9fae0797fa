import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeAccount } from '../../../src/application/steps/remove-account.ts';
import { type ExportedAccount, exportAccount } from '../../../src/application/use-cases/export-account.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import type { Database } from '../../../src/infrastructure/database/database.ts';
import { sqlStores } from '../../../src/infrastructure/storages/sql.ts';
import {
  aLink,
  aMessage,
  anEvent,
  anId,
  aPasskey,
  aRememberedDevice,
  aSession,
  aUser,
  NOW,
} from '../../support/builders.ts';
import { openEmbedded } from '../../support/storage/databases.ts';

/** What an export has of each table that names users. Add a table here when its rows are exported and go with their user. */
const EXPORTED: Readonly<Record<string, (account: ExportedAccount) => readonly unknown[]>> = {
  users: ({ user }) => [user],
  sessions: ({ sessions }) => sessions,
  events: ({ events }) => events,
  links: ({ links }) => links,
  outbox: ({ messages }) => messages,
  passkeys: ({ passkeys }) => passkeys,
  factors: ({ factors }) => factors,
  remembered_devices: ({ rememberedDevices }) => rememberedDevices,
  recovery_codes: ({ recoveryCodes }) => Array.from({ length: recoveryCodes.left }),
};

const TABLES = `select relname as name from pg_class
  where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') order by 1`;
/** Those with a foreign key to users, or with a column of that name. */
const NAMING_USERS = `select conrelid::regclass::text as name from pg_constraint
    where contype = 'f' and confrelid = 'users'::regclass
  union select attrelid::regclass::text from pg_attribute join pg_class on pg_class.oid = attrelid
    where attname in ('user_id', 'username', 'email') and relkind in ('r', 'p') and not attisdropped
      and relnamespace = current_schema()::regnamespace
  order by 1`;

describe('a user, of whom every table that names users has a row', () => {
  const clock = { now: () => NOW };
  const user = aUser();
  const keys = { deviceKey: 'the key of a page', browserKey: 'the key of a browser', proofs: [7] };
  const session = aSession({ userId: user.id, ...keys });
  let database: Database;
  let stores: ReturnType<typeof sqlStores>;
  beforeAll(async () => {
    database = await openEmbedded();
    stores = sqlStores(database);
    await stores.users.add(user);
    await stores.sessions.add(session);
    await stores.events.add([anEvent({ userId: user.id, address: 'network 1' })]);
    await stores.links.put(aLink({ userId: user.id, email: user.email }));
    await stores.passkeys.add(aPasskey({ userId: user.id }));
    const factor = {
      id: anId(),
      userId: user.id,
      secret: 'encrypted',
      lastStep: -1,
      createdAt: NOW,
      confirmedAt: null,
    };
    await stores.factors.add(factor);
    await stores.factors.replaceCodes(user.id, ['hash']);
    await stores.devices.add(aRememberedDevice({ userId: user.id }));
    await stores.outbox.add([aMessage({ userId: user.id, to: user.email })]);
  });
  afterAll(() => database?.close());

  const namesOf = async (query: string) =>
    (await database.em.execute<{ name: string }[]>(query)).map(({ name }) => name);
  /** The tables of all with a row that has the user's id, name, address or keys in any column. */
  const tablesWithTheUser = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const name of await namesOf(TABLES)) {
      const words = [user.id, user.username, user.email, keys.deviceKey, keys.browserKey].map((word) => `%${word}%`);
      const where = words.map(() => 'stored::text ilike ?').join(' or ');
      const rows = await database.em.execute(`select 1 from "${name}" stored where ${where}`, words);
      if (rows.length > 0) found.push(name);
    }
    return found;
  };

  it('is exported with a row of each', async () => {
    expect(await namesOf(NAMING_USERS)).toEqual(Object.keys(EXPORTED).sort());
    expect(await tablesWithTheUser()).toEqual(Object.keys(EXPORTED).sort());
    const account = await exportAccount({ ...stores, clock })({ userId: user.id, sessionId: session.id });
    for (const [name, rowsOf] of Object.entries(EXPORTED)) expect(rowsOf(account), name).toHaveLength(1);
    expect(account.sessions).toMatchObject([{ id: session.id, binding: 'browser' }]);
  });

  it('leaves no row in any table, but what an operator did until it is logged', async () => {
    const origin = { ...NO_ORIGIN, actor: 'Una' };
    expect(await removeAccount({ clock, ids: { next: anId } }, stores, user.id, origin)).toBe(true);
    expect(await tablesWithTheUser()).toEqual(['operations']);
    expect(await stores.events.takeOperated(10)).toMatchObject([
      { kind: 'deleted', actor: 'Una' },
      { kind: 'session-ended', actor: 'Una' },
      { kind: 'device-forgotten', actor: 'Una' },
    ]);
    expect(await tablesWithTheUser()).toEqual([]);
  });
});
