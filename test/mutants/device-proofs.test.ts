import { describeDeviceProofs } from '../contracts/device-proofs.contract.ts';
import { FAULTS } from './device-proofs/faults.ts';
import { CORRECT, proofsBy, type Steps } from './device-proofs/steps.ts';
import { describeMutants, mutantsOf } from './harness/describe-mutants.ts';

const make = (wrong: Partial<Steps>) => () => proofsBy({ ...CORRECT, ...wrong });

describeDeviceProofs('the correct adapter', make({}));

describeMutants(
  (mutant: ReturnType<typeof make>, suite) => describeDeviceProofs('a mutant', mutant, suite),
  mutantsOf(({ wrong }) => make(wrong), FAULTS),
);
