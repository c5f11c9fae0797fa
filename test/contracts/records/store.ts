import { anId } from '../../support/builders.ts';
import { type Absent, offered, type StoreHooks } from '../hooks.ts';
import type { Run } from '../suite.ts';

/** An adapter of events, links or messages under test, and what the contract does with its store. */
export type RecordsStore<Port> = StoreHooks<Port> & {
  readonly repository: Port;
  /** Ids of two users that exist. */
  readonly owners: readonly [string, string];
  readonly deleteUser: (id: string) => Promise<void>;
  readonly close?: () => Promise<void>;
};

export const givenRecords = async <Port>(make: () => Promise<RecordsStore<Port>>, run: Run) => {
  const store = await make();
  const [owner, otherUser] = store.owners;
  /** A hook of the store; without it, the test is skipped. */
  const hook = (name: 'another' | 'failing'): (() => Promise<Port>) => offered(store[name] as Absent, run) as never;
  /** A second instance; the same one where the store has no other. */
  const anotherIfAny = async (): Promise<Port> =>
    typeof store.another === 'function' ? store.another() : store.repository;
  return { store, repository: store.repository, owner, otherUser, stranger: anId(), hook, anotherIfAny };
};

export type GivenRecords<Port> = Awaited<ReturnType<typeof givenRecords<Port>>>;
