import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomSecrets } from '../../../src/adapters/crypto/secrets.ts';
import type { Database } from '../../../src/adapters/mikro-orm/open-database.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { type ExportedAccount, exportAccount } from '../../../src/application/accounts/account-data.ts';
import { removeAccount } from '../../../src/application/accounts/delete-account.ts';
import { takeOperated } from '../../../src/application/storage/events.ts';
import { storeCodes } from '../../../src/application/storage/factors.ts';
import { putLink } from '../../../src/application/storage/links.ts';
import { addMessages } from '../../../src/application/storage/outbox.ts';
import { purgeRows } from '../../../src/application/storage/rows.ts';
import { TABLES, type TableName } from '../../../src/application/storage/tables.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import {
  aLink,
  aMessage,
  anEvent,
  anId,
  anIdentity,
  aPasskey,
  aRememberedDevice,
  aSession,
  aUser,
  NOW,
} from '../../support/builders.ts';
import { openEmbedded } from '../../support/storage/databases.ts';
import { storeEvents } from '../../support/stored-events.ts';

/** What an export has of each table that names users. Add a table here when its rows are exported and go with their user. */
const EXPORTED: Readonly<Record<string, (account: ExportedAccount) => readonly unknown[]>> = {
  users: ({ user }) => [user],
  sessions: ({ sessions }) => sessions,
  // The export itself is one, too.
  events: ({ events }) => events.filter(({ kind }) => kind !== 'exported'),
  links: ({ links }) => links,
  outbox: ({ messages }) => messages,
  passkeys: ({ passkeys }) => passkeys,
  identities: ({ identities }) => identities,
  factors: ({ factors }) => factors,
  rememberedDevices: ({ rememberedDevices }) => rememberedDevices,
  recoveryCodes: ({ recoveryCodes }) => Array.from({ length: recoveryCodes.left }),
};

const NAMES = Object.keys(TABLES) as TableName[];
/**
 * Those whose rows go with a user, or that have one of these columns. An invitation is of an address without an account, and is used up, or
 * gone after seven days. What has ended outlives its user, for as long as an access token does, and what webhooks are told for seven days: both
 * have ids and times alone, of events that are exported.
 */
const NAMING_USERS = NAMES.filter((name) => {
  if (['invitations', 'endedSessions', 'deliveries', 'webhookSequences'].includes(name)) return false;
  const { columns, ofUser } = TABLES[name];
  return ofUser === true || ['userId', 'username', 'email'].some((column) => column in columns);
});

describe('a user, of whom every table that names users has a row', () => {
  const clock = { now: () => NOW };
  const user = aUser();
  const keys = { deviceKey: 'the key of a page', browserKey: 'the key of a browser', proofs: [7] };
  const session = aSession({ userId: user.id, ...keys });
  let database: Database;
  let stores: ReturnType<typeof storageOver>;
  beforeAll(async () => {
    database = await openEmbedded();
    stores = storageOver(database.records);
    await stores.users.add(user);
    await stores.sessions.add(session);
    await storeEvents(stores, [anEvent({ userId: user.id, kind: 'enabled', address: 'network 1' })]);
    await putLink(stores.records, aLink({ userId: user.id, email: user.email }));
    await stores.records.insert('passkeys', aPasskey({ userId: user.id }));
    await stores.records.insert('identities', anIdentity({ userId: user.id }));
    const factor = {
      id: anId(),
      userId: user.id,
      secret: 'encrypted',
      lastStep: -1,
      createdAt: NOW,
      confirmedAt: null,
    };
    await stores.records.insert('factors', factor);
    await storeCodes(stores.records, user.id, ['hash']);
    await stores.records.insert('rememberedDevices', aRememberedDevice({ userId: user.id }));
    await addMessages(stores, [aMessage({ userId: user.id, to: user.email })]);
  });
  afterAll(() => database?.close());

  /** The tables of all with a row that has the user's id, name, address or keys in any column. */
  const tablesWithTheUser = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const name of NAMES) {
      const text = JSON.stringify(
        await database.records.list(name, { order: TABLES[name].key as never }),
      ).toLowerCase();
      const words = [user.id, user.username, user.email, keys.deviceKey, keys.browserKey];
      if (words.some((word) => text.includes(word.toLowerCase()))) found.push(name);
    }
    return found.sort();
  };

  it('is exported with a row of each', async () => {
    expect(NAMING_USERS.toSorted()).toEqual(Object.keys(EXPORTED).sort());
    expect(await tablesWithTheUser()).toEqual(Object.keys(EXPORTED).sort());
    const account = await exportAccount({ ...stores, clock, ids: { next: anId }, secrets: randomSecrets })({
      userId: user.id,
      sessionId: session.id,
    });
    for (const [name, rowsOf] of Object.entries(EXPORTED)) expect(rowsOf(account), name).toHaveLength(1);
    expect(account.sessions).toMatchObject([{ id: session.id, binding: 'browser' }]);
  });

  it('leaves no row in any table, but what an operator did until it is logged, and what has ended until it is purged', async () => {
    const origin = { ...NO_ORIGIN, actor: 'Una' };
    expect(await removeAccount({ clock, ids: { next: anId }, secrets: randomSecrets }, stores, user.id, origin)).toBe(
      true,
    );
    expect(await tablesWithTheUser()).toEqual(['endedSessions', 'operations']);
    expect(await takeOperated(stores, 10)).toMatchObject([
      { kind: 'session-ended', actor: 'Una' },
      { kind: 'device-forgotten', actor: 'Una' },
      { kind: 'deleted', actor: 'Una' },
    ]);
    expect(await purgeRows(stores.records, 'endedSessions', { time: 'at', until: NOW, limit: 10 })).toBe(2);
    expect(await tablesWithTheUser()).toEqual([]);
  });
});
