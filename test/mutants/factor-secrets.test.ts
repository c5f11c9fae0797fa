import { aesGcmFactorSecrets } from '../../src/adapters/crypto/factor-secrets.ts';
import { describeFactorSecrets } from '../contracts/factor-secrets.contract.ts';
import { factorKeys } from '../support/factor-keys.ts';
import { describeMutants } from './harness/describe-mutants.ts';

type Make = Parameters<typeof describeFactorSecrets>[1];

const correct: Make = (keys) => aesGcmFactorSecrets(factorKeys(keys));
/** All keys, whichever are asked for. */
const withAllKeys: Make = ([first]) => correct(first === 'a' ? ['a', 'b'] : ['b', 'a']);

describeFactorSecrets('the correct adapter', correct);

describeMutants((make: Make, suite) => describeFactorSecrets('a mutant', make, suite), {
  'forgets what it has encrypted': {
    make: (keys) => ({ ...correct(keys), decrypt: () => null }),
    caughtBy: 'decrypts what it has encrypted for the same user',
  },
  'encrypts without randomness': {
    make: (keys) => {
      const made = new Map<string, string>();
      const { encrypt, ...secrets } = correct(keys);
      return {
        ...secrets,
        encrypt: (secret, userId) => {
          const text = made.get(userId) ?? encrypt(secret, userId);
          made.set(userId, text);
          return text;
        },
      };
    },
    caughtBy: 'encrypts a secret differently each time, and shows nothing of it',
  },
  'encrypts for nobody in particular': {
    make: (keys) => {
      const { encrypt, decrypt, isCurrent } = correct(keys);
      return { isCurrent, encrypt: (secret) => encrypt(secret, ''), decrypt: (text) => decrypt(text, '') };
    },
    caughtBy: 'decrypts nothing for another user',
  },
  'ignores what follows': {
    make: (keys) => {
      const { decrypt, ...secrets } = correct(keys);
      return { ...secrets, decrypt: (text, userId) => decrypt(text, userId) ?? decrypt(text.slice(0, -1), userId) };
    },
    caughtBy: 'decrypts no text that was changed in any part',
  },
  'takes every key': { make: withAllKeys, caughtBy: 'decrypts no text that it has not encrypted' },
  'decrypts with the first key alone': {
    make: ([first]) => correct([first]),
    caughtBy: 'decrypts what was encrypted with an earlier key, and says that this is outdated',
  },
});
