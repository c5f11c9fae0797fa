import type { PasswordHasher } from '../../src/application/ports/password-hasher.ts';
import { isHashable } from '../../src/domain/password.ts';
import { describePasswordHasher } from '../contracts/password-hasher.contract.ts';
import { plainPasswordHasher } from '../support/fakes.ts';
import { describeMutants } from './harness/describe-mutants.ts';

type Plain = ReturnType<typeof plainPasswordHasher>;

const COST = 10;
const wrongly =
  (wrong: (correct: Plain) => Partial<PasswordHasher>) =>
  (steps = 0) => {
    const correct = plainPasswordHasher(COST + steps);
    return { hasher: { ...correct, ...wrong(correct) }, comparisons: correct.comparisons };
  };

/** Hashes and verifies another text than the password. */
const of = (change: (password: string) => string) =>
  wrongly((correct) => ({
    hash: async (password) => correct.hash(isHashable(password) ? change(password) : password),
    verify: (password, hash) => correct.verify(isHashable(password) ? change(password) : password, hash),
  }));

const first72Bytes = (password: string): string => Buffer.from(password).subarray(0, 72).toString();

describePasswordHasher(
  'the correct hasher',
  wrongly(() => ({})),
);

describeMutants((make: ReturnType<typeof wrongly>, suite) => describePasswordHasher('a mutant', make, suite), {
  'rejects every password': {
    make: wrongly(() => ({ verify: async () => false })),
    caughtBy: 'verifies a password against its own hash',
  },
  'hashes the first 72 bytes of a longer password': {
    make: wrongly(({ hash }) => ({ hash: (password) => hash(first72Bytes(password)) })),
    caughtBy: 'refuses to hash a password that would share its hash with others',
  },
  'hashes a password up to a NUL': {
    make: wrongly(({ hash }) => ({ hash: (password) => hash(password.split('\0')[0] ?? '') })),
    caughtBy: 'refuses to hash a password that would share its hash with others',
  },
  'quotes the password that it refuses': {
    make: wrongly(({ hash }) => ({
      hash: (password) =>
        hash(password).catch(() => {
          throw new RangeError(`cannot hash ${password}`);
        }),
    })),
    caughtBy: 'refuses to hash a password that would share its hash with others',
  },
  'compares the first 72 bytes of a longer password': {
    make: wrongly(({ verify }) => ({ verify: (password, hash) => verify(first72Bytes(password), hash) })),
    caughtBy: 'rejects such a password at the cost of a comparison',
  },
  'rejects such a password without a comparison': {
    make: wrongly(({ verify }) => ({
      verify: async (password, hash) => isHashable(password) && verify(password, hash),
    })),
    caughtBy: 'rejects such a password at the cost of a comparison',
  },
  'rejects at once when there is no hash': {
    make: wrongly(({ verify }) => ({ verify: async (password, hash) => hash !== null && verify(password, hash) })),
    caughtBy: 'rejects every password when there is no hash, at the cost of a comparison',
  },
  'accepts the empty password when there is no hash': {
    make: wrongly(({ verify }) => ({ verify: (password, hash) => verify(password, hash ?? '10.0:') })),
    caughtBy: 'rejects every password when there is no hash, at the cost of a comparison',
  },
  'has one salt for all': {
    make: wrongly(() => ({ hash: (password) => plainPasswordHasher(COST).hash(password) })),
    caughtBy: 'makes a different hash each time',
  },
  'trims passwords': { make: of((password) => password.trim()), caughtBy: 'rejects another password' },
  'ignores letter case': {
    make: of((password) => password.toLowerCase()),
    caughtBy: 'distinguishes passwords that differ only in letter case, accents or composition',
  },
  'normalizes passwords': {
    make: of((password) => password.normalize('NFC')),
    caughtBy: 'distinguishes passwords that differ only in letter case, accents or composition',
  },
  'ignores accents': {
    make: of((password) => password.normalize('NFD').replaceAll(/\p{M}/gu, '')),
    caughtBy: 'distinguishes passwords that differ only in letter case, accents or composition',
  },
  'never asks for a new hash': {
    make: wrongly(() => ({ needsRehash: () => false })),
    caughtBy: 'detects a hash that was made at a lower cost than its own',
  },
  'asks for a new hash after any change of the cost': {
    make: (steps = 0) => {
      const { hasher, comparisons } = wrongly(() => ({}))(steps);
      return { hasher: { ...hasher, needsRehash: (hash) => Number.parseInt(hash, 10) !== COST + steps }, comparisons };
    },
    caughtBy: 'detects a hash that was made at a lower cost than its own',
  },
});
