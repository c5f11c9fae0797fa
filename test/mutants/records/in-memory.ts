import type { RecordsStore } from '../../contracts/records/store.ts';
import { anId } from '../../support/builders.ts';
import { failingTables } from '../harness/failing-tables.ts';
import { withTranslatedErrors } from '../harness/translated.ts';
import { memoryTables, type Tables } from '../memory/tables.ts';

/** An adapter, and what its store does when a user is deleted. */
type Forgetting<Port> = Port & { forget(userId: string): unknown };
type HasUser = (id: string) => boolean;
type Wrong<Port> = (
  correct: Forgetting<Port>,
  store: { readonly tables: Tables; readonly hasUser: HasUser; readonly untranslated: Forgetting<Port> },
) => Partial<Forgetting<Port>>;

/** The methods of an adapter that are wrong, and the title of the test that has to catch it. */
type Fault<Port> = { readonly wrong: Wrong<Port>; readonly caughtBy: string };

/** By what is wrong. */
export type Faults<Port> = Readonly<Record<string, Fault<Port>>>;

/** Makes stores in memory that several instances share. @param open makes the correct adapter over tables. */
export const recordsInMemory =
  <Port extends object>(open: (tables: Tables, hasUser: HasUser) => Forgetting<Port>) =>
  (fault?: Fault<Port>) =>
  async (): Promise<RecordsStore<Port>> => {
    const owners = [anId(), anId()] as const;
    const users = new Set<string>(owners);
    const hasUser = (id: string) => users.has(id);
    const stored = memoryTables();
    const instance = (tables: Tables): Forgetting<Port> => {
      const untranslated = open(tables, hasUser);
      const correct = withTranslatedErrors(untranslated);
      return { ...correct, ...fault?.wrong(correct, { tables, hasUser, untranslated }) };
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
