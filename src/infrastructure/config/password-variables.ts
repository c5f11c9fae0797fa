import * as v from 'valibot';
import * as form from './schemas.ts';
import { unlessProduction, type Variable } from './variable.ts';

/** Settings of password hashes and of the passwords that are accepted. */
export const PASSWORD_VARIABLES = {
  BCRYPT_COST: {
    schema: form.wholeNumber(4, 15),
    expected: 'a whole number from 10 to 15, or from 4 outside production',
    default: '10',
    meaning:
      'The cost of password hashes; each increment doubles the time. Existing hashes of a lower cost are replaced at log-in.',
  },
  PASSWORD_BLOCKLIST: {
    schema: v.picklist(['common', 'off']),
    expected: 'common or off',
    default: unlessProduction('off', 'common'),
    meaning: 'Which new passwords are rejected: common passwords and the names of the user, or, with off, none.',
  },
} as const satisfies Record<string, Variable>;
