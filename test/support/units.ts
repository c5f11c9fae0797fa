import { expect } from 'vitest';
import type { Stores, UnitOfWork } from '../../src/application/ports/unit-of-work.ts';
import { eachStore } from './storage/changed-storage.ts';

/** Changes that are kept one by one, also when the work fails later. */
export const separately = (stores: Stores): UnitOfWork => ({ run: (work) => work(stores) });

type WithUnits = { readonly unitOfWork: UnitOfWork };

/** What others do just before the next unit of work begins. */
export const beforeNextUnit = ({ unitOfWork }: WithUnits, act: () => Promise<unknown>): void => {
  const { run } = unitOfWork;
  unitOfWork.run = async (work) => {
    unitOfWork.run = run;
    await act();
    return run(work);
  };
};

/**
 * Makes each call of a store within the unit of work of `act` fail in turn, after the store has done it, and compares what `look` sees
 * with what it saw before. In the end nothing fails, and there is a change.
 */
export const expectAllOrNothing = async (
  { unitOfWork }: WithUnits,
  look: () => Promise<unknown>,
  act: () => Promise<unknown>,
): Promise<void> => {
  const { run } = unitOfWork;
  const before = await look();
  let calls = 0;
  let failing = 0;
  const failInTurn = () => {
    calls += 1;
    if (calls === failing) throw new Error('down');
  };
  unitOfWork.run = (work) => run((stores) => work(failingStores(stores, failInTurn)));
  do {
    calls = 0;
    failing += 1;
    const failure = await act().then(
      () => null,
      (error: unknown) => error,
    );
    if (calls < failing) expect(failure).toBeNull();
    else {
      expect(failure).toMatchObject({ message: 'down' });
      expect(await look(), `after a failure of call ${failing}`).toStrictEqual(before);
    }
  } while (calls >= failing);
  unitOfWork.run = run;
  expect(await look()).not.toStrictEqual(before);
};

const failingStores = (stores: Stores, afterCall: () => void): Stores =>
  eachStore(stores, (store) => watched(store, afterCall));

const watched = <Store extends object>(store: Store, afterCall: () => void): Store =>
  new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return async (...given: unknown[]) => {
        const result: unknown = await Reflect.apply(method, target, given);
        afterCall();
        return result;
      };
    },
  });
