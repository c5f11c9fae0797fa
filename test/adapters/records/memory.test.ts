// Proves ASVS 7.1.2; flood-8
import { setImmediate } from 'node:timers/promises';
import { memoryRecords, memoryStorage } from '../../../src/adapters/records/memory.ts';
import type { Storage } from '../../../src/application/storage/records.ts';
import { absent } from '../../contracts/hooks.ts';
import { describeRecords } from '../../contracts/records.contract.ts';
import type { OpenedStorage } from '../../contracts/storage/given.ts';
import { describeStorage } from '../../contracts/storage.contract.ts';
import { NOW } from '../../support/builders.ts';
import { ReadCommitted } from '../../support/records/read-committed.ts';

const ONE_PROCESS = absent('one process has its records to itself');
const NO_FAILURE = absent('memory does not fail');

describeRecords('memoryRecords', async () => ({
  records: memoryRecords(),
  another: ONE_PROCESS,
  failing: NO_FAILURE,
  untilOneWaits: setImmediate,
}));

describeRecords('the database of the simulation', async () => {
  const database = new ReadCommitted();
  return {
    records: database.connect().records,
    another: async () => database.connect().records,
    failing: NO_FAILURE,
    untilOneWaits: setImmediate,
  };
});

/** A change, outside of a transaction, of what it has changed. */
const interfereWith =
  ({ users }: Storage): OpenedStorage['interfere'] =>
  async ({ id }) => {
    await users.update(id, { emailVerifiedAt: NOW, now: NOW });
    return { over: Promise.resolve() };
  };

describeStorage('over records in memory', async () => {
  const storage = memoryStorage();
  return {
    storage,
    another: ONE_PROCESS,
    failing: NO_FAILURE,
    interfere: interfereWith(storage),
    untilOneWaits: setImmediate,
  };
});
