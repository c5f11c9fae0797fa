import type { Storage, Stores, Transactions } from '../../application/ports/transactions.ts';
import type { AccountEvent } from '../../domain/event.ts';
import { waitsForPoll } from '../../domain/message.ts';
import { withMethods } from './with-methods.ts';

/** Called when something was added, after it was committed. */
export type Listeners = {
  /** With the events that were stored, or taken: once, also if their transaction ran twice. */
  readonly onEvents?: (events: readonly AccountEvent[]) => void;
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
      // A unit that runs again begins anew.
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
  { onEvents, onMessages }: Listeners,
  afterCommit: (tell: () => void) => unknown,
): Stores => {
  const { events, outbox } = stores;
  return {
    ...stores,
    events: withMethods(events, {
      async add(added) {
        await events.add(added);
        if (added.length > 0) afterCommit(() => onEvents?.(added));
      },
      async takeOperated(limit) {
        const taken = await events.takeOperated(limit);
        if (taken.length > 0) afterCommit(() => onEvents?.(taken));
        return taken;
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
