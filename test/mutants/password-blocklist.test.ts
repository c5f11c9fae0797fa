import type { PasswordBlocklist } from '../../src/application/ports/password-blocklist.ts';
import { describePasswordBlocklist } from '../contracts/password-blocklist.contract.ts';
import { describeMutants } from './harness/describe-mutants.ts';

const LISTED = ['password', '12345678', 'iloveyou'] as const;
const COMMON: ReadonlySet<string> = new Set(LISTED);
const of = (isCommon: PasswordBlocklist['isCommon']) => async (): Promise<PasswordBlocklist> => ({ isCommon });

const EACH = 'recognizes each of them, in any letter case';
const ONLY = 'does not recognize a password that only resembles one of them';

describePasswordBlocklist(
  'the correct list',
  of((password) => COMMON.has(password.toLowerCase())),
  LISTED,
);

describeMutants((make: ReturnType<typeof of>, suite) => describePasswordBlocklist('a mutant', make, LISTED, suite), {
  'is empty': { make: of(() => false), caughtBy: EACH },
  'recognizes lower case only': { make: of((password) => COMMON.has(password)), caughtBy: EACH },
  'misses its last line': {
    make: of((password) => new Set<string>(LISTED.slice(0, -1)).has(password.toLowerCase())),
    caughtBy: EACH,
  },
  'contains everything': { make: of(() => true), caughtBy: ONLY },
  'ignores spaces': { make: of((password) => COMMON.has(password.trim().toLowerCase())), caughtBy: ONLY },
  'ends a password at a NUL': {
    make: of((password) => COMMON.has(password.split('\0')[0]?.toLowerCase() ?? '')),
    caughtBy: ONLY,
  },
  'finds common passwords within a password': {
    make: of((password) => LISTED.some((each) => password.toLowerCase().includes(each))),
    caughtBy: ONLY,
  },
  'looks a password up among the members of an object': {
    make: of((password) => password.toLowerCase() in Object.fromEntries(LISTED.map((each) => [each, true]))),
    caughtBy: ONLY,
  },
});
