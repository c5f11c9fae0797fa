import type { UserRepository } from '../../application/ports/user-repository.ts';
import type { Records } from '../../application/storage/records.ts';
import type { Storage, Stores, Transactions } from '../../application/storage/stores.ts';
import { endedBy } from '../../domain/ended-session.ts';
import type { AccountEvent } from '../../domain/event.ts';
import { waitsForPoll } from '../../domain/message.ts';
import { endedSessionsOver, eventRepositoryOver, userRepositoryOver } from './accounts.ts';
import {
  factorRepositoryOver,
  identityRepositoryOver,
  passkeyRepositoryOver,
  rememberedDeviceRepositoryOver,
} from './factors.ts';
import { invitationRepositoryOver, linkRepositoryOver, outboxOver, usedValuesOver } from './mail.ts';
import { ownRecords } from './own-tables.ts';
import { massEndingsOver, sessionRepositoryOver } from './sessions.ts';
import { webhookRepositoryOver } from './webhooks.ts';

/**
 * The stores over records, those of a unit or those outside.
 * @param users those of the application, if it has a table of users of its own; the others ask them, and not the table of `records`.
 */
export const storesOver = (records: Records, users: UserRepository = userRepositoryOver(records)): Stores => ({
  users,
  sessions: sessionRepositoryOver(records, users),
  events: eventRepositoryOver(records, users),
  endings: endedSessionsOver(records),
  links: linkRepositoryOver(records),
  invitations: invitationRepositoryOver(records),
  outbox: outboxOver(records),
  used: usedValuesOver(records),
  passkeys: passkeyRepositoryOver(records),
  identities: identityRepositoryOver(records),
  factors: factorRepositoryOver(records),
  devices: rememberedDeviceRepositoryOver(records),
  massEndings: massEndingsOver(records),
  webhooks: webhookRepositoryOver(records, users),
  records: ownRecords(records),
});

/**
 * The whole storage of the service over records.
 * @param open makes the stores: with users of one's own, or with a method that is faster in one statement.
 *
 * @example
 * const storage = storageOver(records, (inside) => storesOver(inside, usersOfTheShop()));
 */
export const storageOver = (records: Records, open: (records: Records) => Stores = storesOver): Storage => ({
  ...open(records),
  transactions: { run: (work) => records.unit((inside) => work(open(inside))) },
});

/** Called when something was added, after it was committed. */
export type Listeners = {
  /** With the events that were stored, or taken: once, also if their transaction ran twice. */
  readonly onEvents?: (events: readonly AccountEvent[]) => void;
  /** With the events of operators that were taken. `onEvents` gets none of them then, also not when they are stored here. */
  readonly onOperated?: (events: readonly AccountEvent[]) => void;
  /** When the list of ended sessions became longer. */
  readonly onEnded?: () => void;
  /**
   * When there are messages to send at once, not those alone that wait for a poll.
   * @param isForAll whether to send those that wait for a poll as well, because there are so many.
   */
  readonly onMessages?: (isForAll: boolean) => void;
};

/** The same storage, which tells what was added. */
export const tellingStorage = ({ transactions, ...stores }: Storage, listeners: Listeners): Storage => ({
  ...telling(stores, listeners, (tell) => tell()),
  transactions: tellingTransactions(transactions, listeners),
});

const tellingTransactions = (transactions: Transactions, listeners: Listeners): Transactions => ({
  async run(work) {
    let waiting: (() => void)[] = [];
    const result = await transactions.run((stores) => {
      // The work may run several times; only the last run was committed.
      waiting = [];
      return work(telling(stores, listeners, (tell) => waiting.push(tell)));
    });
    for (const tell of waiting) tell();
    return result;
  },
});

/** @param afterCommit calls its argument once the changes are committed. */
const telling = (
  stores: Stores,
  { onEvents, onOperated, onEnded, onMessages }: Listeners,
  afterCommit: (tell: () => void) => unknown,
): Stores => {
  const { endings, events, outbox } = stores;
  return {
    ...stores,
    events: withMethods(events, {
      async add(added, isListed = true) {
        await events.add(added, isListed);
        if (isListed && endedBy(added).length > 0) afterCommit(() => onEnded?.());
        const told = onOperated === undefined ? added : added.filter(({ actor }) => actor === null);
        if (told.length > 0) afterCommit(() => onEvents?.(told));
      },
      async takeOperated(limit) {
        const operated = await events.takeOperated(limit);
        if (operated.length > 0) afterCommit(() => (onOperated ?? onEvents)?.(operated));
        return operated;
      },
    }),
    endings: withMethods(endings, {
      async add(ended) {
        await endings.add(ended);
        afterCommit(() => onEnded?.());
      },
    }),
    outbox: withMethods(outbox, {
      async add(messages) {
        const isHalfFull = await outbox.add(messages);
        if (isHalfFull || !messages.every(waitsForPoll)) afterCommit(() => onMessages?.(isHalfFull));
        return isHalfFull;
      },
    }),
  };
};

/** The same object with other methods in place of some of its own. It may be an instance of a class, whose methods need their `this`. */
export const withMethods = <Target extends object>(target: Target, methods: Partial<Target>): Target =>
  // Not a proxy of the object itself: one of a frozen object has to return its methods as they are.
  new Proxy({} as Target, {
    get(_target, name) {
      const method: unknown = Reflect.get(Object.hasOwn(methods, name) ? methods : target, name);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
