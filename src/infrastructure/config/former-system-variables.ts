import * as form from './forms.ts';
import { adoptionKeys } from './keys.ts';
import { hookUrl } from './urls.ts';

/** A move from another system, whose users stay logged in. */
export const FORMER_SYSTEM_VARIABLES = {
  ADOPTION_PUBLIC_KEY: {
    form: adoptionKeys,
    secret: true,
    unset: 'no adoption',
    meaning:
      'The public keys of the former system, whose assertions open sessions of their users at POST /auth/adopt: EC P-256 or Ed25519 in PEM, one or more.',
  },
  ADOPTION_ENDS: {
    form: form.date,
    unset: 'never (production: required with ADOPTION_PUBLIC_KEY)',
    meaning: 'The date from which on no session is adopted, in UTC, within a year.',
  },
  VERIFY_PASSWORDS_AT: {
    form: hookUrl,
    secret: true,
    meaning:
      'The URL of the former system that verifies the passwords of users who were imported without a hash, at their first log-in. HOOK_PRIVATE_KEY signs the requests.',
  },
  VERIFY_PASSWORDS_UNTIL: {
    form: form.date,
    unset: 'never (production: required with VERIFY_PASSWORDS_AT)',
    meaning: 'The date from which on it is not asked, and these users set a new password, in UTC, within a year.',
  },
} as const satisfies Record<string, form.Variable>;
