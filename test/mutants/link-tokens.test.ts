import { createHash, randomBytes } from 'node:crypto';
import { randomLinkTokens } from '../../src/adapters/crypto/link-tokens.ts';
import { describeLinkTokens } from '../contracts/link-tokens.contract.ts';
import { describeMutants } from './harness/describe-mutants.ts';

const HASHES = 'hashes a token to the same text each time, and other tokens to others';
const FORM = 'makes tokens of 256 random bits: 43 characters of base64url';
const correct = randomLinkTokens();

describeLinkTokens('the correct tokens', randomLinkTokens);

describeMutants((make: typeof randomLinkTokens, suite) => describeLinkTokens('a mutant', make, suite), {
  'makes tokens of 128 bits': {
    make: () => ({ ...correct, next: () => randomBytes(16).toString('base64url') }),
    caughtBy: FORM,
  },
  'fills up half of the bits with zeros': {
    make: () => ({ ...correct, next: () => Buffer.concat([randomBytes(16), Buffer.alloc(16)]).toString('base64url') }),
    caughtBy: FORM,
  },
  'makes the same token twice': {
    make: () => {
      let [last, count] = ['', 0];
      return {
        ...correct,
        next: () => {
          if (count % 2 === 0) last = correct.next();
          count += 1;
          return last;
        },
      };
    },
    caughtBy: 'never makes the same token twice',
  },
  'hashes with a salt of its own': {
    make: () => {
      const salt = randomBytes(8);
      return { ...correct, hashOf: (token) => createHash('sha256').update(salt).update(token).digest('base64url') };
    },
    caughtBy: HASHES,
  },
  'hashes by another function': {
    make: () => ({ ...correct, hashOf: (token) => createHash('sha512').update(token).digest('base64url') }),
    caughtBy: HASHES,
  },
  'ignores spaces around a token': {
    make: () => ({ ...correct, hashOf: (token) => correct.hashOf(token.trim()) }),
    caughtBy: HASHES,
  },
  'makes the tokens of another instance': {
    make: () => {
      let count = 0;
      return {
        ...correct,
        next: () => {
          count += 1;
          return createHash('sha256').update(`${count}`).digest('base64url');
        },
      };
    },
    caughtBy: 'never makes the same token twice',
  },
});
