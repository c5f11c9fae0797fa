import { setImmediate } from 'node:timers/promises';
import { separateStores } from '../../src/adapters/unit-of-work/separate.ts';
import type { UnitOfWork } from '../../src/application/ports/unit-of-work.ts';
import { memoryStores } from '../../src/infrastructure/storages/memory-stores.ts';
import { absent } from '../contracts/hooks.ts';
import { describeUnitOfWork, type UnitOfWorkStore } from '../contracts/unit-of-work.contract.ts';
import { NOW } from '../support/builders.ts';
import { describeMutants } from './harness/describe-mutants.ts';

type Memory = ReturnType<typeof memoryStores>;

const withFault = (wrong: (memory: Memory) => UnitOfWork) => async (): Promise<UnitOfWorkStore> => {
  const memory = memoryStores();
  const { unitOfWork: _, ...stores } = memory;
  return {
    stores,
    unitOfWork: wrong(memory),
    together: true,
    sessionsTogether: true,
    records: true,
    interfere: async ({ id }) => {
      await stores.users.update(id, { emailVerifiedAt: NOW, now: NOW });
      return { over: Promise.resolve() };
    },
    untilOneWaits: setImmediate,
    failing: absent('memory does not fail'),
  };
};

const KEEPS_NONE = 'keeps none when the work rejects, and rejects with the same error';

describeMutants((make: ReturnType<typeof withFault>, suite) => describeUnitOfWork('a mutant', make, suite), {
  'keeps each change at once': { make: withFault((stores) => separateStores(stores)), caughtBy: KEEPS_NONE },
  'shows changes before they are kept': {
    make: withFault((stores) => separateStores(stores)),
    caughtBy: 'shows the changes to nobody before the work has ended',
  },
  'lets others record something about a user whom it has locked or changed': {
    make: withFault((stores) => separateStores(stores)),
    caughtBy:
      'holds back whoever records something about a user whom it has locked or changed, and shows them its changes',
  },
  'replaces the error of the work': {
    make: withFault(({ unitOfWork }) => ({
      run: (work) =>
        unitOfWork.run(work).catch(() => {
          throw new Error('the unit failed');
        }),
    })),
    caughtBy: KEEPS_NONE,
  },
  'never runs the work again': {
    make: withFault((stores) => separateStores(stores)),
    caughtBy: 'runs the work again when it conflicts with another',
  },
});
