import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { randomSecrets } from '../../../src/adapters/crypto/secrets.ts';
import { ExportJson } from '../../../src/adapters/http/routes/accounts/export.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { type ExportedAccount, exportAccount } from '../../../src/application/accounts/account-data.ts';
import { removeAccount } from '../../../src/application/accounts/profile.ts';
import { takeOperatorEvents } from '../../../src/application/storage/events.ts';
import { purgeRows } from '../../../src/application/storage/rows.ts';
import { TABLES, type TableName } from '../../../src/application/storage/tables.ts';
import { purgeDeliveries } from '../../../src/application/storage/webhooks.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { aSessionRow, aUserRow } from '../../contracts/records/database.ts';
import { anId, NOW } from '../../support/builders.ts';
import { insertRows, sampleRows } from '../../support/records/sample-rows.ts';
import { openEmbedded } from '../../support/storage/databases.ts';

/** What is sent of an account, under the names of the tables. */
const exportedRows = (account: ExportedAccount): Readonly<Record<string, readonly object[]>> => {
  const { user, events, messages, recoveryCodes, exportedAt: _, ...lists } = v.parse(ExportJson, account);
  return {
    ...lists,
    users: [user],
    // The export itself is one, too.
    events: events.filter(({ kind }) => kind !== 'exported'),
    outbox: messages,
    recoveryCodes: Array.from({ length: recoveryCodes.left }, () => recoveryCodes),
  };
};

const NAMES = Object.keys(TABLES) as TableName[];
/**
 * They outlive their user, for as long as an access token does, seven days, until they are logged, as long as events are kept, or number them.
 * They are of events that are exported.
 */
const NOT_EXPORTED: readonly string[] = [
  'endedSessions',
  'deliveries',
  'webhookSequences',
  'operations',
  'operatorEvents',
] satisfies TableName[];

const clock = { now: () => NOW };
const user = aUserRow();
const keys = { deviceKey: 'the key of a page', browserKey: 'the key of a browser', proofs: [7] };
const session = aSessionRow({ userId: user.id, ...keys });
// A mass ending would end the session.
const rows = { ...sampleRows(user, NOW), sessions: [session], massEndings: [] };
const database = await openEmbedded();
const stores = storageOver(database.records);
await insertRows(database.records, rows);

describe('a user, of whom every table that names users has a row', () => {
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

  it('is exported with the rows of each', async () => {
    const deps = { ...stores, clock, ids: { next: anId }, secrets: randomSecrets };
    const exported = exportedRows(await exportAccount(deps)({ userId: user.id, sessionId: session.id }));
    expect(Object.keys(exported).concat(NOT_EXPORTED).sort()).toEqual(await tablesWithTheUser());
    for (const [name, all] of Object.entries(exported)) {
      const ofUser = rows[name as TableName].filter((row) => !('userId' in row) || row.userId !== null);
      expect([name, all.length]).toEqual([name, ofUser.length]);
    }
    expect(exported.sessions).toMatchObject([{ id: session.id, binding: 'browser' }]);
  });

  it('leaves no row in any table, but what an operator did and what has ended, until it is logged and purged', async () => {
    const origin = { ...NO_ORIGIN, actor: 'Una' };
    expect(await removeAccount({ clock, ids: { next: anId }, secrets: randomSecrets }, stores, user.id, origin)).toBe(
      true,
    );
    expect(await tablesWithTheUser()).toEqual(['deliveries', 'endedSessions', 'operations', 'operatorEvents'].sort());
    expect(await takeOperatorEvents(stores, 10)).toMatchObject([
      { kind: 'disabled', actor: 'Jo' },
      { kind: 'session-ended', actor: 'Una' },
      { kind: 'device-forgotten', actor: 'Una' },
      { kind: 'deleted', actor: 'Una' },
    ]);
    expect(await purgeRows(stores.records, 'endedSessions', { time: 'at', until: NOW, limit: 10 })).toBe(4);
    expect(await purgeRows(stores.records, 'operatorEvents', { time: 'at', until: NOW, limit: 10 })).toBe(4);
    await purgeDeliveries(stores, NOW + 1, 100, NOW + 1);
    expect(await tablesWithTheUser()).toEqual([]);
  });
});
