import { nodeCryptoOneTimePasswords } from '../../src/adapters/crypto/one-time-passwords.ts';
import { describeOneTimePasswords } from '../contracts/one-time-passwords.contract.ts';
import { describeMutants } from './harness/describe-mutants.ts';

const correct = nodeCryptoOneTimePasswords();

describeOneTimePasswords('the correct adapter', nodeCryptoOneTimePasswords);

describeMutants((make: typeof nodeCryptoOneTimePasswords, suite) => describeOneTimePasswords('a mutant', make, suite), {
  'counts steps from one': {
    make: () => ({ codeOf: (secret, step) => correct.codeOf(secret, step + 1) }),
    caughtBy: 'computes the codes of RFC 6238, appendix B, with six digits',
  },
  'drops leading zeros': {
    make: () => ({ codeOf: (secret, step) => `${Number(correct.codeOf(secret, step))}` }),
    caughtBy: 'keeps leading zeros',
  },
  'repeats short secrets': {
    make: () => ({ codeOf: (secret, step) => correct.codeOf(secret.padEnd(32, secret), step) }),
    caughtBy: 'takes secrets of any length in Base32',
  },
});
