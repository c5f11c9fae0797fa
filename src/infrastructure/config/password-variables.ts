import * as v from 'valibot';
import * as form from './schemas.ts';
import { unlessProduction, type Variable } from './variable.ts';

/** The cost of password hashes, and which passwords are refused. */
export const PASSWORD_VARIABLES = {
  BCRYPT_COST: {
    schema: form.wholeNumber(4, 15),
    expected: 'a whole number from 10 to 15, or from 4 outside production',
    default: '10',
    meaning: 'The cost of a password hash; each step doubles the time. A raised one reaches a hash at the next log-in.',
  },
  PASSWORD_BLOCKLIST: {
    schema: v.picklist(['common', 'off']),
    expected: 'common or off',
    default: unlessProduction('off', 'common'),
    meaning: 'Which new passwords are refused: common ones and names of their owner, or, with off, none.',
  },
} as const satisfies Record<string, Variable>;
