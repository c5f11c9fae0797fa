import type { Stores, UnitOfWork } from '../../../../src/application/ports/unit-of-work.ts';
import type { Wrong } from '../in-memory.ts';

/** By what is wrong: an instance with that fault, and the title of the test that has to catch it. */
export type Faults = Readonly<Record<string, { readonly wrong: Wrong; readonly caughtBy: string }>>;

/** The same unit of work, whose work is given other stores. */
export const giving = ({ run }: UnitOfWork, change: (stores: Stores) => Partial<Stores>): UnitOfWork => ({
  run: (work) => run((stores) => work({ ...stores, ...change(stores) })),
});
