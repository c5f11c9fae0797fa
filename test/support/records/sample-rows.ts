import type { Records, Stored } from '../../../src/application/storage/records.ts';
import { rowsOf } from '../../../src/application/storage/rows.ts';
import type { TableName, Tables } from '../../../src/application/storage/tables.ts';
import { LINK_PURPOSES } from '../../../src/domain/link.ts';
import { aMessageRow, anEventRow, aSessionRow, aUserRow } from '../../contracts/records/database.ts';
import {
  aDelivery,
  aFactor,
  aLink,
  anEnded,
  anEvent,
  anId,
  anIdentity,
  anInvitation,
  aPasskey,
  aRememberedDevice,
  aWebhook,
  NOW,
} from '../builders.ts';

type Rows = { readonly [Name in TableName]: readonly Tables[Name][] };

/** Rows of each table, with every type of value, for one user and for no user. */
export const sampleRows = (user: Tables['users'], at: number): Rows => {
  const userId = user.id;
  return {
    users: [user],
    sessions: [aSessionRow({ userId, proofs: [at, Number.MAX_SAFE_INTEGER] }), aSessionRow({ userId, deviceKey: '' })],
    events: [anEventRow({ userId, countedBy: 'an hour' }), anEventRow({ userId, at }), anEventRow({ userId })],
    operations: [{ id: anId(), event: anEvent({ userId, actor: 'Jo' }) }],
    operatorEvents: [{ id: anId(), actor: 'Jo', at, event: anEvent({ userId, actor: 'Jo' }) }],
    hourlyCounts: [{ hour: at, kind: 'registered', detail: '', count: at }],
    endedSessions: [anEnded(), anEnded({ userId, sessionId: null, at })],
    links: [0, at].flatMap((since) => LINK_PURPOSES.map((purpose) => aLink({ userId, purpose, since }))),
    invitations: [anInvitation({ email: `invited.${at}@example.org`, attributes: { level: at } })],
    outbox: [aMessageRow({ userId, wasVerified: true }), aMessageRow({ userId: null, request: `to ${anId()}` })],
    mailboxes: [{ mailbox: anId(), refilledAt: at }],
    usedValues: [{ id: anId(), expiresAt: at }],
    passkeys: [aPasskey({ userId, isSynced: true, transports: ['usb'], counter: 2 ** 32 - 1 })],
    identities: [anIdentity({ userId }), anIdentity({ userId, email: null, lastUsedAt: at })],
    factors: [aFactor({ userId })],
    rememberedDevices: [aRememberedDevice({ userId })],
    massEndings: [{ id: anId(), at, note: 'ä', actor: null, cursor: null }],
    recoveryCodes: ['a', 'B', 'ä'].map((hash) => ({ userId, hash })),
    webhooks: [aWebhook(), aWebhook({ types: ['user.deleted'], hasSecret: true, disabledAt: at })],
    deliveries: [
      { ...aDelivery({ userId, sequence: 1 }), lastError: '503', isWaiting: true, nextAttemptAt: at },
      { ...aDelivery({ userId, sequence: 2 }), lastError: null, isWaiting: false, nextAttemptAt: null },
    ],
    webhookSequences: [{ userId, sequence: at }],
  };
};

export const insertRows = async (records: Pick<Records, 'insert'>, rows: Partial<Rows>): Promise<void> => {
  for (const [table, each] of Object.entries(rows))
    for (const row of each) await records.insert(table as 'users', row as Tables['users']);
};

/** Inserts rows of each table for a number of users. */
export const fill = async (records: Records, users: number): Promise<void> => {
  const all = Array.from({ length: users }, (_, at) => {
    const user = aUserRow({ attributes: { note: 'ä🔑"\\\0', level: at }, locale: at % 2 === 0 ? 'de' : null });
    return sampleRows(user, at + NOW);
  });
  await records.unit(async (inside) => {
    for (const rows of all) await insertRows(inside, rows);
  });
};

/** All rows of a table, ordered by its key. */
export const allRows = async <Name extends TableName>(
  records: Pick<Records, 'list'>,
  table: Name,
): Promise<Stored<Name>[]> => {
  const rows: Stored<Name>[] = [];
  for await (const row of rowsOf(records, table)) rows.push(row);
  return rows;
};
