import { setImmediate } from 'node:timers/promises';
import type { Outbox } from '../../../../src/application/ports/outbox.ts';
import { NO_ORIGIN } from '../../../../src/domain/event.ts';
import type { Message } from '../../../../src/domain/message.ts';
import { mutex } from '../../harness/mutex.ts';
import type { Tables } from '../../memory/tables.ts';
import { allIn, byDue, type Faults, type Row, rowsOf, toMessage } from './fault.ts';

const DUE = 'claims messages whose time has come, the oldest first, at most as many as it is asked to';
const POLLED = 'claims messages that may wait only if they were due at the last poll';
const AS_ADDED = 'claims a message as it was added';
const LEASE = 'claims each message for one of several instances, until the lease ends';
const ATTEMPTS = 'counts the attempts of a message';
const POSTPONED = 'claims a message again at the time to which it was postponed';

type Claim = Parameters<Outbox['claim']>[0];

const dueIn = (tables: Tables, { now, limit }: Claim, compare: (a: Row, b: Row) => number): Row[] =>
  allIn(tables)
    .filter(({ nextAttemptAt }) => nextAttemptAt <= now)
    .sort(compare)
    .slice(0, limit);

const claimRows = (tables: Tables, due: readonly Row[], { until }: Claim): Message[] => {
  const claimed = due.map((row) => ({
    ...row,
    attempts: row.attempts + 1,
    nextAttemptAt: until,
    isUnclaimedRequest: false,
  }));
  for (const row of claimed) rowsOf(tables).set(row.id, row);
  return claimed.map(toMessage);
};

/** Looks, and then claims what it has found. */
const claimInSteps =
  (tables: Tables): Outbox['claim'] =>
  async (claim) => {
    const due = dueIn(tables, claim, byDue);
    await setImmediate();
    return claimRows(tables, due, claim);
  };

const returning =
  (change: (message: Message) => Partial<Message>) =>
  ({ claim }: Outbox): Partial<Outbox> => ({
    claim: async (given) => (await claim(given)).map((message) => ({ ...message, ...change(message) })),
  });

export const CLAIMING: Faults = {
  'claims more than the limit': {
    wrong: ({ claim }) => ({ claim: (asked) => claim({ ...asked, limit: 1_000 }) }),
    caughtBy: DUE,
  },
  'claims messages before their time': {
    wrong: ({ claim }) => ({ claim: (asked) => claim({ ...asked, now: Number.MAX_SAFE_INTEGER }) }),
    caughtBy: DUE,
  },
  'claims the latest first': {
    wrong: (_correct, { tables }) => ({
      claim: async (claim) =>
        claimRows(
          tables,
          dueIn(tables, claim, (a, b) => byDue(b, a)),
          claim,
        ),
    }),
    caughtBy: DUE,
  },
  'claims in the order in which the messages were added': {
    wrong: (_correct, { tables }) => ({
      claim: async (claim) =>
        claimRows(
          tables,
          dueIn(tables, claim, () => 0),
          claim,
        ),
    }),
    caughtBy: DUE,
  },
  'claims messages that may wait as soon as they are due': {
    wrong: ({ claim }) => ({ claim: ({ lastPolledAt: _lastPolledAt, ...asked }) => claim(asked) }),
    caughtBy: POLLED,
  },
  'claims nothing that has become due since the last look': {
    wrong: ({ claim }) => ({ claim: (asked) => claim({ ...asked, now: asked.lastPolledAt ?? asked.now }) }),
    caughtBy: POLLED,
  },
  'forgets what caused a message': { wrong: returning(() => ({ origin: NO_ORIGIN })), caughtBy: AS_ADDED },
  'forgets the address that a message is about': { wrong: returning(() => ({ email: null })), caughtBy: AS_ADDED },
  'forgets the language of a message': { wrong: returning(() => ({ locale: null })), caughtBy: AS_ADDED },
  'forgets that an address was verified': { wrong: returning(() => ({ wasVerified: false })), caughtBy: AS_ADDED },
  'forgets who a message is about': { wrong: returning(() => ({ userId: null })), caughtBy: AS_ADDED },
  'adds the first of many messages alone': {
    wrong: ({ add }) => ({ add: (messages) => add(messages.slice(0, 1)) }),
    caughtBy: AS_ADDED,
  },
  'gives a claimed message to others': {
    wrong: ({ claim }) => ({ claim: ({ now, limit }) => claim({ now, until: now, limit }) }),
    caughtBy: LEASE,
  },
  'claims a message for ever': {
    wrong: ({ claim }) => ({ claim: (asked) => claim({ ...asked, until: Number.MAX_SAFE_INTEGER }) }),
    caughtBy: LEASE,
  },
  'looks, and then claims': {
    wrong: (_correct, { tables }) => ({ claim: claimInSteps(tables) }),
    caughtBy: LEASE,
  },
  'looks and claims under a lock of its own process': {
    wrong: (_correct, { tables }) => {
      const exclusively = mutex();
      return { claim: (claim) => exclusively(() => claimInSteps(tables)(claim)) };
    },
    caughtBy: LEASE,
  },
  'forgets to count an attempt': { wrong: returning(() => ({ attempts: 1 })), caughtBy: ATTEMPTS },
  'returns the attempts before this one': {
    wrong: returning(({ attempts }) => ({ attempts: attempts - 1 })),
    caughtBy: ATTEMPTS,
  },
  'counts the attempts of all messages together': {
    wrong: ({ claim }) => {
      let attempts = 0;
      return {
        claim: async (asked) => {
          const claimed = await claim(asked);
          attempts += claimed.length;
          return claimed.map((message) => ({ ...message, attempts }));
        },
      };
    },
    caughtBy: ATTEMPTS,
  },
  'ignores a postponement': { wrong: () => ({ postpone: async () => undefined }), caughtBy: POSTPONED },
  'does not postpone a message to a time before the end of its lease': {
    wrong: ({ postpone }, { tables }) => ({
      postpone: (id, until) => postpone(id, Math.max(until, rowsOf(tables).get(id)?.nextAttemptAt ?? 0)),
    }),
    caughtBy: POSTPONED,
  },
  'claims postponed messages in the order of their ids': {
    wrong: (_correct, { tables }) => ({
      claim: async (claim) =>
        claimRows(
          tables,
          dueIn(tables, claim, (a, b) => (a.id < b.id ? -1 : 1)),
          claim,
        ),
    }),
    caughtBy: POSTPONED,
  },
  'begins to count attempts anew when a message is postponed': {
    wrong: ({ postpone }, { tables }) => ({
      postpone: async (id, until) => {
        await postpone(id, until);
        const row = rowsOf(tables).get(id);
        if (row !== undefined) rowsOf(tables).set(id, { ...row, attempts: 0 });
      },
    }),
    caughtBy: POSTPONED,
  },
};
