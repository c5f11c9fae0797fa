import { memorySessionRepository } from '../../../../src/adapters/session-repository/memory.ts';
import type { Stores, UnitOfWork } from '../../../../src/application/ports/unit-of-work.ts';
import { absent } from '../../../contracts/hooks.ts';
import type { Wrong } from '../in-memory.ts';

/** By what is wrong: an instance with that fault, and the title of the test that has to catch it. */
export type Faults = Readonly<Record<string, { readonly wrong: Wrong; readonly caughtBy: string }>>;

/** The same unit of work, whose work is given other stores. */
export const giving = ({ run }: UnitOfWork, change: (stores: Stores) => Partial<Stores>): UnitOfWork => ({
  run: (work) => run((stores) => work({ ...stores, ...change(stores) })),
});

/** Sessions in a store of their own. @param around makes the unit of work that takes care of them, or does not. */
export const withForeignSessions =
  (around: (unitOfWork: UnitOfWork, sessions: Stores['sessions']) => UnitOfWork): Wrong =>
  ({ unitOfWork, stores }) => {
    const sessions = memorySessionRepository();
    return {
      stores: { ...stores, sessions },
      unitOfWork: around(unitOfWork, sessions),
      sessionsTogether: absent('the sessions are in a store of their own'),
    };
  };
