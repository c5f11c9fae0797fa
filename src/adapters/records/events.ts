import { hash } from 'node:crypto';
import type { EventRepository } from '../../application/ports/event-repository.ts';
import type { UserRepository } from '../../application/ports/user-repository.ts';
import {
  type AccountEvent,
  beyondKept,
  countedTogether,
  countingPeriodOf,
  type Device,
  EVENTS_KEPT,
} from '../../domain/event.ts';
import { findRow, insertUnlessTaken, purgeRows, untilDone } from './change.ts';
import type { Records, Stored } from './records.ts';
import type { Tables } from './tables.ts';
import { userRepositoryOver } from './users.ts';

type Row = Tables['events'];

/** The most of one user. */
const MOST_EVENTS = EVENTS_KEPT + 100;

/** Short, since a user agent may be long: 128 bits in base64url. */
const hashOf = ({ userAgent, address }: Device): string =>
  hash('sha256', JSON.stringify([userAgent, address]), 'base64url').slice(0, 22);

/** Log-ins on one device, and refused log-ins, are counted by the hour. */
const toRow = (event: AccountEvent): Row => {
  const isLogin = event.kind === 'logged-in';
  const device = isLogin || event.kind === 'registered' ? hashOf(event) : null;
  const isCounted = isLogin || event.kind === 'login-refused';
  const countedBy = isCounted ? `${event.kind} ${device ?? ''} ${countingPeriodOf(event.at)}` : null;
  return { ...event, device, countedBy };
};

const toEvent = ({ device: _device, countedBy: _by, version: _version, ...event }: Stored<'events'>): AccountEvent =>
  event;

const byId = (a: AccountEvent, b: AccountEvent): number => (a.id < b.id ? -1 : 1);

export const eventRepositoryOver = (
  records: Records,
  users: UserRepository = userRepositoryOver(records),
): EventRepository => {
  /** Inserts a row, or counts it in the one with which it is counted. */
  const store = (row: Row): Promise<unknown> => {
    const { userId, countedBy } = row;
    if (countedBy === null) return records.insert('events', row);
    return untilDone(async () => {
      const first = await findRow(records, 'events', { userId, countedBy });
      const isStored =
        first === null
          ? await insertUnlessTaken(records, 'events', row, 'events_counted')
          : await records.replace('events', first, countedTogether<Row>(first, row));
      return isStored || undefined;
    });
  };
  /** All events are read to choose those that go, so many go at once. */
  const removeSurplus = async (userId: string): Promise<void> => {
    const surplus = await records.list('events', { equal: { userId }, skip: MOST_EVENTS, limit: 1 });
    if (surplus.length === 0) return;
    await records.remove('events', beyondKept(await records.list('events', { equal: { userId } })));
  };
  const add = async (events: readonly AccountEvent[]): Promise<void> => {
    for (const userId of new Set(events.map((event) => event.userId))) {
      // So that the user is not removed meanwhile, and so that units which do the same take turns.
      if ((await users.lock(userId)) === null) continue;
      for (const event of events) if (event.userId === userId) await store(toRow(event));
      await removeSurplus(userId);
    }
    for (const event of events) if (event.actor !== null) await records.insert('operations', { id: event.id, event });
  };

  return {
    add,
    async list({ userId, before, limit }) {
      const rows = await records.list('events', {
        equal: { userId },
        ...(before !== null && { range: ['id', '<', before] }),
        order: ['id'],
        descending: true,
        limit,
      });
      return rows.map(toEvent);
    },
    knowsDevice: async (userId, device) =>
      (await findRow(records, 'events', { userId, device: hashOf(device) })) !== null,
    countSince: async (userId, kind, since) =>
      (await records.list('events', { equal: { userId, kind }, range: ['at', '>=', since] })).length,
    purge: (before, limit) => purgeRows(records, 'events', { time: 'at', until: before - 1, limit }),
    async takeOperated(limit) {
      const taken = await records.remove('operations', await records.list('operations', { order: ['id'], limit }));
      return taken.map(({ event }) => event).sort(byId);
    },
  };
};
