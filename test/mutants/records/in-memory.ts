import { memoryTables, type Tables } from '../../../src/adapters/memory/tables.ts';
import type { RecordsStore } from '../../contracts/records/store.ts';
import { anId } from '../../support/builders.ts';
import { failingTables } from '../harness/failing-tables.ts';
import { withTranslatedErrors } from '../harness/translated.ts';

/** An adapter, and what its store does when a user is deleted. */
type Forgetting<Port> = Port & { forget(userId: string): unknown };
type HasUser = (id: string) => boolean;
type Wrong<Port> = (
  correct: Forgetting<Port>,
  store: { readonly tables: Tables; readonly hasUser: HasUser; readonly untranslated: Forgetting<Port> },
) => Partial<Forgetting<Port>>;

/** By what is wrong: the methods of an adapter that are wrong, and the title of the test that has to catch it. */
export type Faults<Port> = Readonly<Record<string, { readonly wrong: Wrong<Port>; readonly caughtBy: string }>>;

/** Makes stores in memory that several instances share. @param open makes the correct adapter over tables. */
export const recordsInMemory =
  <Port extends object>(open: (tables: Tables, hasUser: HasUser) => Forgetting<Port>) =>
  (wrong?: Wrong<Port>) =>
  async (): Promise<RecordsStore<Port>> => {
    const owners = [anId(), anId()] as const;
    const users = new Set<string>(owners);
    const hasUser = (id: string) => users.has(id);
    const stored = memoryTables();
    const instance = (tables: Tables): Forgetting<Port> => {
      const untranslated = open(tables, hasUser);
      const correct = withTranslatedErrors(untranslated);
      return { ...correct, ...wrong?.(correct, { tables, hasUser, untranslated }) };
    };
    const repository = instance(stored);
    return {
      repository,
      owners,
      another: async () => instance(stored),
      failing: async () => instance(failingTables(stored)),
      deleteUser: async (id) => {
        users.delete(id);
        await repository.forget(id);
      },
    };
  };

/** @param make makes the store of an adapter with that fault. */
export const mutantsOf = <Port, Make>(make: (wrong: Wrong<Port>) => Make, faults: Faults<Port>) =>
  Object.fromEntries(
    Object.entries(faults).map(([what, { wrong, caughtBy }]) => [what, { make: make(wrong), caughtBy }]),
  );
