import type { Stores } from '../../application/ports/unit-of-work.ts';

/** Beside users of a caller's own: nothing is recorded about them, and no links and messages are kept. */
export const NO_RECORDS: Omit<Stores, 'users' | 'sessions'> = {
  events: {
    add: async () => undefined,
    addRefusals: async () => undefined,
    list: async () => [],
    knowsDevice: async () => true,
    countSince: async () => 0,
    purge: async () => 0,
  },
  links: {
    put: async () => undefined,
    find: async () => null,
    take: async () => null,
    listByEmail: async () => [],
    removeOfUser: async () => undefined,
    listByUser: async () => [],
    purge: async () => 0,
  },
  outbox: {
    add: async () => false,
    claim: async () => [],
    identify: async () => false,
    postpone: async () => undefined,
    remove: async () => undefined,
    listByUser: async () => [],
    admit: async () => false,
    purge: async () => 0,
    waiting: async () => ({ count: 0, since: null }),
  },
};
