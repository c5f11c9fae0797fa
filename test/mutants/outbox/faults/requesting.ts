import { setImmediate } from 'node:timers/promises';
import { type Outbox, REQUESTS_PER_NETWORK, REQUESTS_WAITING } from '../../../../src/application/ports/outbox.ts';
import { isRequest, type Message } from '../../../../src/domain/message.ts';
import { mutex } from '../../harness/mutex.ts';
import type { Tables } from '../../memory/tables.ts';
import { allIn, type Faults, isSame, type Row, rowsOf, store } from './fault.ts';

const ONE = 'keeps one request of each kind for an address until it is claimed';
const CONCURRENT = 'keeps one of many requests for an address that come at the same time';
const BOUNDED = 'keeps a bounded number of requests, of one network and of all';
const HALF = 'says when half of the requests wait that may';
const NAMES = 'names the user of a message, once it is known';

/** Adds the messages that are welcome among those that wait. */
const addingBy = (
  tables: Tables,
  isWelcome: (message: Message, waiting: readonly Row[]) => boolean | Promise<boolean>,
): Outbox['add'] => {
  return async (messages) => {
    for (const message of messages) if (await isWelcome(message, allIn(tables))) store(tables, message);
    return false;
  };
};

const unclaimedIn = (rows: readonly Row[]) => rows.filter(({ isUnclaimedRequest }) => isUnclaimedRequest);

const isAsked = (message: Message, waiting: readonly Row[]): boolean =>
  waiting.some((row) => row.isUnclaimedRequest && isSame(row, message));

/** Looks, and then adds. */
const addingInSteps = (tables: Tables): Outbox['add'] =>
  addingBy(tables, async (message, waiting) => {
    await setImmediate();
    return !isRequest(message) || !isAsked(message, waiting);
  });

export const REQUESTING: Faults = {
  'keeps every request': { wrong: (_correct, { tables }) => ({ add: addingBy(tables, () => true) }), caughtBy: ONE },
  'keeps one request for an address, of whatever kind': {
    wrong: (_correct, { tables }) => ({
      add: addingBy(
        tables,
        (message, waiting) =>
          !isRequest(message) || !waiting.some((row) => row.isUnclaimedRequest && row.to === message.to),
      ),
    }),
    caughtBy: ONE,
  },
  'keeps one request of each kind, for whatever address': {
    wrong: (_correct, { tables }) => ({
      add: addingBy(
        tables,
        (message, waiting) =>
          !isRequest(message) || !waiting.some((row) => row.isUnclaimedRequest && row.kind === message.kind),
      ),
    }),
    caughtBy: ONE,
  },
  'keeps one message of each kind for an address': {
    wrong: (_correct, { tables }) => ({
      add: addingBy(tables, (message, waiting) => !waiting.some((row) => isSame(row, message))),
    }),
    caughtBy: ONE,
  },
  'keeps no request while an earlier one is being answered': {
    wrong: (_correct, { tables }) => ({
      add: addingBy(tables, (message, waiting) => !isRequest(message) || !waiting.some((row) => isSame(row, message))),
    }),
    caughtBy: ONE,
  },
  'looks for a request, and then adds one': {
    wrong: (_correct, { tables }) => ({ add: addingInSteps(tables) }),
    caughtBy: CONCURRENT,
  },
  'looks for a request and adds one under a lock of its own process': {
    wrong: (_correct, { tables }) => {
      const exclusively = mutex();
      return { add: (messages) => exclusively(() => addingInSteps(tables)(messages)) };
    },
    caughtBy: CONCURRENT,
  },
  'keeps any number of requests': {
    wrong: (_correct, { tables }) => ({
      add: addingBy(tables, (message, waiting) => !isRequest(message) || !isAsked(message, waiting)),
    }),
    caughtBy: BOUNDED,
  },
  'drops a message when too many requests wait': {
    wrong: ({ add }, { tables }) => ({
      add: async (messages) => {
        for (const message of messages) if (rowsOf(tables).size < REQUESTS_WAITING) await add([message]);
        return false;
      },
    }),
    caughtBy: BOUNDED,
  },
  'keeps no further request after the greatest number was reached once': {
    wrong: ({ add }) => {
      let added = 0;
      return {
        add: async (messages) => {
          for (const message of messages) {
            if (isRequest(message)) added += 1;
            if (!isRequest(message) || added <= REQUESTS_WAITING) await add([message]);
          }
          return false;
        },
      };
    },
    caughtBy: BOUNDED,
  },
  'drops the oldest request when too many wait': {
    wrong: ({ add, remove }, { tables }) => ({
      add: async (messages) => {
        for (const message of messages) {
          const requests = allIn(tables).filter(({ isUnclaimedRequest }) => isUnclaimedRequest);
          if (isRequest(message) && requests.length >= REQUESTS_WAITING) await remove([requests[0]?.id ?? '']);
          await add([message]);
        }
        return false;
      },
    }),
    caughtBy: BOUNDED,
  },
  'counts what was claimed as well': {
    wrong: (_correct, { tables }) => ({
      add: addingBy(tables, (message, waiting) => {
        if (!isRequest(message)) return true;
        const ofNetwork = waiting.filter((row) => row.origin.address === message.origin.address);
        return ofNetwork.length < REQUESTS_PER_NETWORK && unclaimedIn(waiting).length < REQUESTS_WAITING;
      }),
    }),
    caughtBy: BOUNDED,
  },
  'keeps as many requests of one network as of all': {
    wrong: (_correct, { tables }) => ({
      add: addingBy(
        tables,
        (message, waiting) => !isRequest(message) || unclaimedIn(waiting).length < REQUESTS_WAITING,
      ),
    }),
    caughtBy: BOUNDED,
  },
  'never says that many requests wait': {
    wrong: ({ add }) => ({
      add: async (messages) => {
        await add(messages);
        return false;
      },
    }),
    caughtBy: HALF,
  },
  'says that many requests wait when a single one does': {
    wrong: ({ add }, { tables }) => ({
      add: async (messages) => {
        await add(messages);
        return messages.some(isRequest) && rowsOf(tables).size > 0;
      },
    }),
    caughtBy: HALF,
  },
  'says of every message that many requests wait': {
    wrong: ({ add }, { tables }) => ({
      add: async (messages) => {
        const count = unclaimedIn(allIn(tables)).length;
        await add(messages);
        return count >= REQUESTS_WAITING / 2;
      },
    }),
    caughtBy: HALF,
  },
  'says that a message is named which is gone': {
    wrong: ({ identify }) => ({
      identify: async (id, identity) => {
        await identify(id, identity);
        return true;
      },
    }),
    caughtBy: NAMES,
  },
  'names the user, but not what the message became': {
    wrong: ({ identify }, { tables }) => ({
      identify: (id, { kind, userId }) => identify(id, { kind: rowsOf(tables).get(id)?.kind ?? kind, userId }),
    }),
    caughtBy: NAMES,
  },
  'names the user of every message': {
    wrong: ({ identify }, { tables }) => ({
      identify: async (_id, identity) => {
        for (const { id } of allIn(tables)) await identify(id, identity);
        return rowsOf(tables).size > 0;
      },
    }),
    caughtBy: NAMES,
  },
};
