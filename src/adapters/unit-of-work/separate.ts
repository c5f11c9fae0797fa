import type { Stores, UnitOfWork } from '../../application/ports/unit-of-work.ts';
import { outsideOfUnits } from './nesting.ts';

/** Stores that cannot be changed together: each change is kept at once, also when the work fails later. */
export const separateStores = (stores: Stores): UnitOfWork => ({ run: (work) => outsideOfUnits(() => work(stores)) });
