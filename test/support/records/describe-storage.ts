import { setImmediate } from 'node:timers/promises';
import type { Storage, Stores } from '../../../src/application/ports/transactions.ts';
import { type Absent, absent } from '../../contracts/hooks.ts';
import { describeRepositories } from '../../contracts/repositories.ts';
import { describeSessionRepository } from '../../contracts/session-repository.contract.ts';
import type { TransactionsStore } from '../../contracts/transactions/store.ts';
import { describeTransactions } from '../../contracts/transactions.contract.ts';
import { describeUserRepository } from '../../contracts/user-repository.contract.ts';
import { aUser, NOW } from '../builders.ts';

/** Records under test, whose tables are empty. */
export type OpenedStorage = {
  readonly storage: Storage;
  readonly another: (() => Promise<Stores>) | Absent;
  readonly failing: (() => Promise<Storage>) | Absent;
  readonly interfere?: TransactionsStore['interfere'];
  readonly untilOneWaits?: TransactionsStore['untilOneWaits'];
  readonly close?: () => Promise<void>;
};

const of = <Opened extends Stores, Name extends keyof Opened>(
  open: (() => Promise<Opened>) | Absent,
  part: Name,
): (() => Promise<Opened[Name]>) | Absent => (typeof open === 'function' ? async () => (await open())[part] : open);

/** Registers the contracts of all repositories, and of the transaction, for the storage over some records. */
export const describeStorage = (name: string, open: () => Promise<OpenedStorage>): void => {
  const opened = async () => {
    const { storage, another, failing, close, ...rest } = await open();
    return { storage, another, failing, rest, ...(close && { close }) };
  };
  describeUserRepository(name, async () => {
    const { storage, another, failing, close } = await opened();
    return {
      repository: storage.users,
      another: of(another, 'users'),
      failing: of(failing, 'users'),
      ...(close && { close }),
    };
  });
  describeSessionRepository(name, async () => {
    const { storage, another, failing, close } = await opened();
    const users = [aUser(), aUser()] as const;
    for (const user of users) await storage.users.add(user);
    return {
      repository: storage.sessions,
      users,
      another: of(another, 'sessions'),
      failing: of(failing, 'sessions'),
      held: absent('nobody else locks sessions'),
      deleteUser: (id) => storage.users.remove(id),
      ...(close && { close }),
    };
  });
  describeRepositories(name, async (part) => {
    const { storage, another, failing, close } = await opened();
    const users = [aUser(), aUser()] as const;
    for (const user of users) await storage.users.add(user);
    return {
      repository: storage[part],
      owners: [users[0].id, users[1].id],
      another: of(another, part),
      failing: of(failing, part),
      deleteUser: (id) => storage.users.remove(id),
      ...(close && { close }),
    };
  });
  describeTransactions(name, async () => {
    const { storage, failing, rest, close } = await opened();
    const { transactions, ...stores } = storage;
    return {
      transactions,
      stores,
      failing: of(failing, 'transactions'),
      interfere: absent('units take turns'),
      untilOneWaits: setImmediate,
      ...rest,
      ...(close && { close }),
    };
  });
};

/** A change outside of a transaction of what it has changed. */
export const interfereWith =
  ({ users }: Storage): TransactionsStore['interfere'] =>
  async ({ id }) => {
    await users.update(id, { emailVerifiedAt: NOW, now: NOW });
    return { over: Promise.resolve() };
  };
