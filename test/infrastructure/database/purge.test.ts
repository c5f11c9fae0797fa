// Proves flood-8

import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { randomSecrets } from '../../../src/adapters/crypto/secrets.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { devicesOf, linksOf, putLink, useOnce } from '../../../src/application/storage/credentials.ts';
import { addEnded, eventsOf, listEnded } from '../../../src/application/storage/events.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { NO_ORIGIN, newEvent } from '../../../src/domain/event.ts';
import { purge } from '../../../src/infrastructure/serve.ts';
import { anEnded, aRememberedDevice, aSession, aUser, NOW } from '../../support/builders.ts';
import { atCall } from '../../support/records/at-call.ts';
import { sequentialIds } from '../../support/sequential-ids.ts';
import { storeEvents } from '../../support/stored-events.ts';

const RETENTION = 1_000;
const [MINUTE, HOUR] = [60_000, 3_600_000];
const ids = sequentialIds();
const user = aUser();

/** Stores with 900 old events, an event that is kept, an expired link, 2,500 values that were used and expired an hour ago, one that expired later, an expired session, two remembered devices, of which one has expired, and two ended sessions, of which one is no longer listed. */
const filled = async () => {
  const { transactions, ...stores } = memoryStorage();
  await stores.users.add(user);
  const event = (at: number) =>
    newEvent({ userId: user.id, kind: 'disabled' }, { id: ids.next(), at, origin: NO_ORIGIN });
  await storeEvents(
    stores,
    Array.from({ length: 900 }, () => event(NOW - RETENTION - 1)),
  );
  await storeEvents(stores, [event(NOW - RETENTION)]);
  const link = {
    userId: user.id,
    email: user.email,
    createdAt: 0,
    tokenHash: 'hash',
    since: 0,
    keeps: null,
    expiresAt: NOW,
  };
  await putLink(stores.records, { ...link, purpose: 'password-reset' });
  await putLink(stores.records, { ...link, purpose: 'email-change', tokenHash: 'another', expiresAt: NOW + 1 });
  for (let index = 0; index < 2_500; index += 1) await useOnce(stores.records, `expired ${index}`, NOW - HOUR);
  await useOnce(stores.records, 'expired of late', NOW - HOUR + 1);
  await stores.records.insert('rememberedDevices', aRememberedDevice({ userId: user.id, expiresAt: NOW }));
  await stores.records.insert('rememberedDevices', aRememberedDevice({ userId: user.id, expiresAt: NOW + 1 }));
  await stores.sessions.add(aSession({ userId: user.id, expiresAt: NOW }));
  for (const at of [NOW - HOUR - MINUTE, NOW - HOUR - MINUTE + 1])
    await addEnded(stores, anEnded({ id: `ended ${at}`, at }));
  return {
    ...stores,
    transactions,
    clock: { now: () => NOW },
    secrets: randomSecrets,
    ids,
    eventsRetention: RETENTION,
    jwtAccessExpiresIn: MINUTE,
  };
};

const listed = ({ records }: Awaited<ReturnType<typeof filled>>) =>
  eventsOf(records, { userId: user.id, before: null, limit: 10_000 });

type OnDone = Parameters<typeof purge>[3];

type Line = { readonly msg: string; readonly rows?: string; readonly count?: number };

/** Purges until `isDone`. @returns the lines of the log. */
const purgeUntil = async (stores: Awaited<ReturnType<typeof filled>>, isDone: () => Promise<void>, onDone?: OnDone) => {
  const lines: Line[] = [];
  const logger = pino({ base: {} }, { write: (line) => lines.push(JSON.parse(line)) });
  const background = new AbortController();
  const purging = purge(stores, logger, background.signal, onDone);
  await vi.waitFor(isDone, { timeout: 60_000, interval: 5 });
  background.abort();
  await purging;
  return lines;
};

describe('the purge', () => {
  it('deletes old events, expired links, sessions and remembered devices, values that were used an hour after that, in as many batches as it takes, and nothing else; a line says how many', async () => {
    const stores = await filled();
    const lines = await purgeUntil(stores, async () => {
      const left = (await listed(stores)).map(({ kind, reason }) => reason ?? kind);
      expect(left).toStrictEqual(['expired', 'disabled']);
      expect(await linksOf(stores.records, user.id, 0)).toMatchObject([{ purpose: 'email-change' }]);
    });
    expect((await listEnded(stores.records, 0, 1_000)).at(-1)?.at).toBe(NOW - HOUR - MINUTE + 1);
    expect(await devicesOf(stores.records, user.id, 0)).toMatchObject([{ expiresAt: NOW + 1 }]);
    expect([
      await useOnce(stores.records, 'expired 2499', NOW),
      await useOnce(stores.records, 'expired of late', NOW),
    ]).toEqual([true, false]);
    const rows = ({ msg, rows, count }: Line) => `${msg}: ${count} ${rows}`;
    expect(lines.map(rows).toSorted()).toStrictEqual([
      ...['purged: 1 ended-sessions', 'purged: 1 links', 'purged: 1 remembered-devices', 'purged: 1 sessions'],
      ...['purged: 2500 used-values', 'purged: 900 events'],
    ]);
  });

  it('goes on with the other kinds when one fails, and says which have nothing left', async () => {
    const stores = await filled();
    const fail = async () => {
      throw new AppError('DB_QUERY_FAILED');
    };
    stores.records = atCall(stores.records, ['list', 'links'], fail);
    const { run } = stores.transactions;
    stores.transactions.run = (work) =>
      run((inside) => work({ ...inside, sessions: { ...inside.sessions, purge: fail } }));
    const done: string[] = [];
    const isDone = async () => {
      expect(await listed(stores)).toHaveLength(1);
      const others =
        'counts, ended-sessions, events, mailboxes, mass-endings, operations, remembered-devices, used-values, webhooks';
      expect(done.toSorted().join(', ')).toBe(others);
    };
    const lines = await purgeUntil(stores, isDone, (round) => done.push(round));
    expect(lines.map(({ msg, rows }) => `${msg}: ${rows}`).toSorted()).toStrictEqual([
      ...['purged: ended-sessions', 'purged: events', 'purged: remembered-devices', 'purged: used-values'],
      ...['rows could not be purged: links', 'rows could not be purged: sessions'],
    ]);
  });
});
