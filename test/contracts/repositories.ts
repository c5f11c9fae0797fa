import type { Stores } from '../../src/application/ports/transactions.ts';
import { describeEventRepository } from './event-repository.contract.ts';
import { describeFactorRepository } from './factor-repository.contract.ts';
import { describeLinkRepository } from './link-repository.contract.ts';
import { describeOutbox } from './outbox.contract.ts';
import { describePasskeyRepository } from './passkey-repository.contract.ts';
import type { RecordsStore } from './records/store.ts';
import { describeRememberedDeviceRepository } from './remembered-device-repository.contract.ts';
import { describeUsedValues } from './used-values.contract.ts';

/** The contracts of the stores that keep records about users, by their names in `Stores`. */
const CONTRACTS = {
  events: describeEventRepository,
  links: describeLinkRepository,
  outbox: describeOutbox,
  passkeys: describePasskeyRepository,
  used: describeUsedValues,
  factors: describeFactorRepository,
  devices: describeRememberedDeviceRepository,
};

export type RepositoryName = keyof typeof CONTRACTS;

/**
 * Registers the tests of every promise of all these stores for one storage.
 * @param make makes an empty storage, for each test anew, and what the contract of one of its stores is given.
 */
export const describeRepositories = (
  storage: string,
  make: <Name extends RepositoryName>(name: Name) => Promise<RecordsStore<Stores[Name]>>,
): void => {
  // `make` returns what the contract of this name takes; the compiler does not follow that through the loop.
  for (const name of Object.keys(CONTRACTS) as RepositoryName[])
    CONTRACTS[name](`${name} ${storage}`, () => make(name) as never);
};
