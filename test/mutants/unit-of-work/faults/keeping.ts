import type { Stores, UnitOfWork } from '../../../../src/application/ports/unit-of-work.ts';
import { separately } from '../../../support/units.ts';
import { memoryOutbox } from '../../memory/outbox.ts';
import { memoryUsedValues } from '../../memory/used-values.ts';
import type { Wrong } from '../in-memory.ts';
import { type Faults, giving } from './fault.ts';

const KEEPS = 'keeps all changes when the work succeeds, and returns its result';
const KEEPS_NONE = 'keeps none when the work rejects, and rejects with the same error';
const OWN = 'shows its own changes to the work';
const REFUSED = 'keeps all changes or rejects, when the work goes on after a store has refused a change';

const LOST = new Error('lost');

/** Loses all changes when `isLost` says so at the end, and says nothing of it. */
const losing = ({ run }: UnitOfWork, isLost: () => boolean): UnitOfWork => ({
  async run<Result>(work: (stores: Stores) => Promise<Result>): Promise<Result> {
    let result: { readonly of: Result } | undefined;
    const outcome = await run(async (stores) => {
      result = { of: await work(stores) };
      if (isLost()) throw LOST;
      return result;
    }).catch((error: unknown) => {
      if (error === LOST && result !== undefined) return result;
      throw error;
    });
    return outcome.of;
  },
});

/** Loses all changes when a user could not be added. */
const losingRefused: Wrong = ({ unitOfWork }) => {
  let isRefused = false;
  const noting = giving(unitOfWork, ({ users }) => ({
    users: {
      ...users,
      add: (user) =>
        users.add(user).catch((error: unknown) => {
          isRefused = true;
          throw error;
        }),
    },
  }));
  return { unitOfWork: losing(noting, () => isRefused) };
};

export const KEEPING: Faults = {
  'keeps nothing': { wrong: ({ unitOfWork }) => ({ unitOfWork: losing(unitOfWork, () => true) }), caughtBy: KEEPS },
  'keeps no messages': {
    wrong: ({ unitOfWork }) => ({ unitOfWork: giving(unitOfWork, () => ({ outbox: memoryOutbox() })) }),
    caughtBy: KEEPS,
  },
  'keeps no used values': {
    wrong: ({ unitOfWork }) => ({ unitOfWork: giving(unitOfWork, () => ({ used: memoryUsedValues() })) }),
    caughtBy: KEEPS,
  },
  'returns a copy of the result': {
    wrong: ({ unitOfWork }) => ({
      unitOfWork: { run: async (work) => structuredClone(await unitOfWork.run(work)) },
    }),
    caughtBy: KEEPS,
  },
  'keeps each change at once': {
    wrong: ({ stores }) => ({ unitOfWork: separately(stores) }),
    caughtBy: KEEPS_NONE,
  },
  'keeps the messages of work that failed': {
    wrong: ({ unitOfWork, stores: { outbox } }) => ({ unitOfWork: giving(unitOfWork, () => ({ outbox })) }),
    caughtBy: KEEPS_NONE,
  },
  'keeps sessions that work added which failed': {
    wrong: ({ unitOfWork, stores: { sessions } }) => ({ unitOfWork: giving(unitOfWork, () => ({ sessions })) }),
    caughtBy: KEEPS_NONE,
  },
  'keeps the passkeys of work that failed': {
    wrong: ({ unitOfWork, stores: { passkeys } }) => ({ unitOfWork: giving(unitOfWork, () => ({ passkeys })) }),
    caughtBy: KEEPS_NONE,
  },
  'keeps the recovery codes of work that failed': {
    wrong: ({ unitOfWork, stores }) => ({
      unitOfWork: giving(unitOfWork, ({ factors }) => ({
        factors: { ...factors, replaceCodes: stores.factors.replaceCodes },
      })),
    }),
    caughtBy: KEEPS_NONE,
  },
  'remembers the values that work has used which failed': {
    wrong: ({ unitOfWork, stores: { used } }) => ({ unitOfWork: giving(unitOfWork, () => ({ used })) }),
    caughtBy: KEEPS_NONE,
  },
  'replaces the error of the work': {
    wrong: ({ unitOfWork }) => ({
      unitOfWork: {
        run: (work) =>
          unitOfWork.run(work).catch(() => {
            throw new Error('the unit failed');
          }),
      },
    }),
    caughtBy: KEEPS_NONE,
  },
  'shows users to the work as they are stored': {
    wrong: ({ unitOfWork, stores }) => ({
      unitOfWork: giving(unitOfWork, ({ users }) => ({ users: { ...users, findById: stores.users.findById } })),
    }),
    caughtBy: OWN,
  },
  'shows links to the work as they are stored': {
    wrong: ({ unitOfWork, stores }) => ({
      unitOfWork: giving(unitOfWork, ({ links }) => ({ links: { ...links, find: stores.links.find } })),
    }),
    caughtBy: OWN,
  },
  'shows authenticator apps to the work as they are stored': {
    wrong: ({ unitOfWork, stores }) => ({
      unitOfWork: giving(unitOfWork, ({ factors }) => ({
        factors: { ...factors, listByUser: stores.factors.listByUser },
      })),
    }),
    caughtBy: OWN,
  },
  'loses all changes after a refused one, and does not say so': { wrong: losingRefused, caughtBy: REFUSED },
};
