import type { Storage, Stores, Transactions } from '../../../src/application/storage/records.ts';
import type { User } from '../../../src/domain/user.ts';
import { anId, aUser } from '../../support/builders.ts';
import { type Absent, offered } from '../hooks.ts';
import type { Run } from '../suite.ts';

/** A store that can be held up, several times. */
export type HeldStore = {
  /** From now on, the store changes no session: it is slow, or somebody has locked them. */
  hold(): Promise<void>;
  /** Lets the store carry out what was held up, once it waits. */
  release(): Promise<void>;
};

/** A storage under test, which is empty, and what the contract does with its store. A hook that cannot be offered is `absent(why)`. */
export type OpenedStorage = {
  readonly storage: Storage;
  /** Opens a second instance over the same store, as another process has it: over connections of its own. */
  readonly another: (() => Promise<Stores>) | Absent;
  /** Opens an instance whose store fails at every call, with an error of the driver. */
  readonly failing: (() => Promise<Storage>) | Absent;
  /** For rotations of several instances that wait for the store. Absent unless given. */
  readonly held?: (() => Promise<HeldStore>) | Absent;
  /**
   * Gets in the way of a transaction that has changed the first user, and will change the second, so that the store undoes it: for example,
   * another one that locks the second user, and then wants the first, of a deadlock whose victim is the former. Sets `emailVerifiedAt` of the
   * first user to `NOW`. Resolves when the transaction may go on; `over` resolves when all of that has ended.
   */
  readonly interfere: ((first: User, second: User) => Promise<{ readonly over: Promise<unknown> }>) | Absent;
  /** Resolves when a transaction waits for another. Where they take turns: when it has had the chance to run. */
  readonly untilOneWaits: () => Promise<unknown>;
  readonly close?: () => Promise<void>;
};

/** What each test is given: the stores by their names, and two stored users. */
export const givenStorage = async (open: () => Promise<OpenedStorage>, run: Run) => {
  const opened = await open();
  const { storage } = opened;
  const { transactions: _transactions, ...stores } = storage;
  const [user, other] = [aUser(), aUser()];
  for (const each of [user, other]) await stores.users.add(each);

  const begun: Promise<unknown>[] = [];
  const transactions: Transactions = {
    run: (work) => {
      const ended = storage.transactions.run(work);
      begun.push(ended);
      return ended;
    },
  };
  const gates: (() => void)[] = [];
  /** Something to wait for, at the latest until the end of the test. */
  const gate = (): PromiseWithResolvers<void> => {
    const made = Promise.withResolvers<void>();
    gates.push(made.resolve);
    return made;
  };
  /** A transaction that a test left open would keep its locks, and every later test would wait for them. */
  const close = async () => {
    for (const open of gates) open();
    await Promise.allSettled(begun);
    await opened.close?.();
  };
  return {
    ...stores,
    stores,
    /** A second instance; the same one where the store has no other. */
    another: typeof opened.another === 'function' ? await opened.another() : stores,
    ...{ opened, transactions, user, other, owner: user.id, otherUser: other.id, stranger: anId() },
    /** An instance whose store fails; without one, the test is skipped. */
    failing: () => offered<() => Promise<Storage>>(opened.failing, run)(),
    ...{ run, begun, gate, close },
  };
};
export type GivenStorage = Awaited<ReturnType<typeof givenStorage>>;

/** Calls at two instances by turns, all at the same time. */
export const raced = <Port, Result>(
  [port, another]: readonly [Port, Port],
  count: number,
  call: (instance: Port, at: number) => Promise<Result>,
): Promise<Result[]> => Promise.all(Array.from({ length: count }, (_, at) => call(at % 2 === 0 ? another : port, at)));

export const DEVICE = { userAgent: 'Mozilla/5.0 (“Ünïcode” / 1)', address: '203.0.113.0/24' };
export const ORIGIN = { requestId: anId(), ...DEVICE };

export const idsOf = (listed: readonly { readonly id: string }[]): string[] => listed.map(({ id }) => id);
