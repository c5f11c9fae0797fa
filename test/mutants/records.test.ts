import { describeRecords } from '../contracts/records.contract.ts';
import { describeMutants, mutantsOf } from './harness/describe-mutants.ts';
import { CHANGING } from './records/changing.ts';
import { databaseInMemory } from './records/database.ts';
import { READING } from './records/reading.ts';
import { UNITING } from './records/uniting.ts';

describeRecords('the correct records', databaseInMemory());

describeMutants(
  (make: ReturnType<typeof databaseInMemory>, suite) => describeRecords('a mutant', make, suite),
  mutantsOf(databaseInMemory, READING, CHANGING, UNITING),
);
