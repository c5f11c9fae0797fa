import { setImmediate } from 'node:timers/promises';
import type { Stores, UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import type { UnitOfWorkStore } from '../../contracts/unit-of-work/store.ts';
import { NOW } from '../../support/builders.ts';
import { eachStore } from '../../support/storage/changed-storage.ts';
import { failingTables } from '../harness/failing-tables.ts';
import { withTranslatedErrors } from '../harness/translated.ts';
import { memoryStores } from '../memory/stores.ts';
import { memoryTables, type SharedTables } from '../memory/tables.ts';

/** A unit of work, and the stores as everybody else sees them. */
type Instance = Pick<UnitOfWorkStore, 'unitOfWork' | 'stores'>;
type Store = { readonly tables: SharedTables; readonly untranslated: UnitOfWork };

/** What of a correct instance is wrong. */
export type Wrong = (correct: Instance, store: Store) => Partial<Instance>;

const translatedStores = (stores: Stores): Stores => eachStore(stores, withTranslatedErrors);

const open = (tables: SharedTables, wrong: Wrong | undefined): Instance => {
  const { unitOfWork: untranslated, ...stores } = memoryStores(tables);
  const correct: Instance = {
    unitOfWork: { run: (work) => untranslated.run((inside) => work(translatedStores(inside))) },
    stores: translatedStores(stores),
  };
  return { ...correct, ...wrong?.(correct, { tables, untranslated }) };
};

/** Makes stores in memory, and a unit of work over them with a fault. */
export const inMemory = (wrong?: Wrong) => async (): Promise<UnitOfWorkStore> => {
  const tables = memoryTables();
  const instance = open(tables, wrong);
  return {
    ...instance,
    interfere: async ({ id }) => {
      await instance.stores.users.update(id, { emailVerifiedAt: NOW, now: NOW });
      return { over: Promise.resolve() };
    },
    untilOneWaits: setImmediate,
    failing: async () => open(failingTables(tables), wrong).unitOfWork,
  };
};
