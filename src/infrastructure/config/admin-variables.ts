import * as form from './forms.ts';
import { operatorKeys } from './keys.ts';
import { baseUrl } from './urls.ts';

/** The back office: ADR 0031. */
export const ADMIN_VARIABLES = {
  ADMIN_PORT: {
    form: form.portOrOff,
    default: 'off',
    meaning: 'The TCP port of the back office, for programs of operators. Not the port of the service.',
  },
  ADMIN_HOST: {
    form: form.address,
    default: '127.0.0.1',
    meaning: 'The address that the back office listens on.',
  },
  ADMIN_URL: {
    form: baseUrl,
    unset: 'http://$ADMIN_HOST:$ADMIN_PORT',
    meaning: 'The URL at which programs reach the back office, and the audience of their assertions.',
  },
  ADMIN_KEYS: {
    form: operatorKeys,
    secret: true,
    unset: 'none',
    meaning:
      'The programs that may use the back office, as JSON: a name, scopes (users:read, users:write) and a public key each. npx tandem keys admin makes one.',
  },
} as const satisfies Record<string, form.Variable>;
