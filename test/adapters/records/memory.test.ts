import { setImmediate } from 'node:timers/promises';
import { memoryRecords, memoryStorage } from '../../../src/adapters/records/memory.ts';
import { absent } from '../../contracts/hooks.ts';
import { describeRecords } from '../../contracts/records.contract.ts';
import { describeStorage, interfereWith } from '../../support/records/describe-storage.ts';

const ONE_PROCESS = absent('one process has its records to itself');
const NO_FAILURE = absent('memory does not fail');

describeRecords('memoryRecords', async () => ({
  records: memoryRecords(),
  another: ONE_PROCESS,
  failing: NO_FAILURE,
  untilOneWaits: setImmediate,
}));

describeStorage('over records in memory', async () => {
  const storage = memoryStorage();
  return { storage, another: ONE_PROCESS, failing: NO_FAILURE, interfere: interfereWith(storage) };
});
