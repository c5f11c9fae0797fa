import { setImmediate } from 'node:timers/promises';
import type { Admission } from '../../../../src/application/ports/outbox.ts';
import { mutex } from '../../harness/mutex.ts';
import type { Tables } from '../../memory/tables.ts';
import type { Faults } from './fault.ts';

const ADMITS = 'admits as many mails to a mailbox at once as the burst, and then one in each interval';
const CONCURRENT = 'admits no more when two instances ask at the same time';
const PURGES = 'purges the counts of mailboxes that may get the whole burst again, and only those';

type Row = { readonly mailbox: string; readonly refilledAt: number };
const rowsOf = (tables: Tables) => tables.open<Row>('mailboxes');

/** Looks, and then counts. */
const admitInSteps =
  (tables: Tables) =>
  async ({ mailbox, now, burst, interval }: Admission): Promise<boolean> => {
    const refilledAt = Math.max(rowsOf(tables).get(mailbox)?.refilledAt ?? now, now);
    await setImmediate();
    if (refilledAt > now + (burst - 1) * interval) return false;
    rowsOf(tables).set(mailbox, { mailbox, refilledAt: refilledAt + interval });
    return true;
  };

export const ADMITTING: Faults = {
  'admits every mail': { wrong: () => ({ admit: async () => true }), caughtBy: ADMITS },
  'admits no mail': { wrong: () => ({ admit: async () => false }), caughtBy: ADMITS },
  'admits one mail at once': {
    wrong: ({ admit }) => ({ admit: (admission) => admit({ ...admission, burst: 1 }) }),
    caughtBy: ADMITS,
  },
  'counts all mailboxes together': {
    wrong: ({ admit }) => ({ admit: (admission) => admit({ ...admission, mailbox: '' }) }),
    caughtBy: ADMITS,
  },
  'counts each burst on its own': {
    wrong: ({ admit }) => ({
      admit: (admission) => admit({ ...admission, mailbox: `${admission.mailbox} ${admission.burst}` }),
    }),
    caughtBy: ADMITS,
  },
  'counts refused mails, too': {
    wrong: ({ admit }) => ({
      admit: async (admission) => {
        const isAdmitted = await admit(admission);
        if (!isAdmitted) await admit({ ...admission, burst: 1e6 });
        return isAdmitted;
      },
    }),
    caughtBy: ADMITS,
  },
  'saves what was not used beyond the burst': {
    wrong: (_correct, { tables }) => ({
      admit: async ({ mailbox, now, burst, interval }) => {
        const refilledAt = rowsOf(tables).get(mailbox)?.refilledAt ?? now;
        if (refilledAt > now + (burst - 1) * interval) return false;
        rowsOf(tables).set(mailbox, { mailbox, refilledAt: refilledAt + interval });
        return true;
      },
    }),
    caughtBy: ADMITS,
  },
  'looks, and then counts': {
    wrong: (_correct, { tables }) => ({ admit: admitInSteps(tables) }),
    caughtBy: CONCURRENT,
  },
  'looks and counts under a lock of its own process': {
    wrong: (_correct, { tables }) => {
      const exclusively = mutex();
      return { admit: (admission) => exclusively(() => admitInSteps(tables)(admission)) };
    },
    caughtBy: CONCURRENT,
  },
  'purges nothing': { wrong: () => ({ purge: async () => 0 }), caughtBy: PURGES },
  'purges all counts': {
    wrong: ({ purge }) => ({ purge: (_now, limit) => purge(Number.MAX_SAFE_INTEGER, limit) }),
    caughtBy: PURGES,
  },
  'purges more than it is asked to': {
    wrong: ({ purge }) => ({ purge: (now) => purge(now, 100) }),
    caughtBy: PURGES,
  },
};
