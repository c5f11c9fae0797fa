import * as form from './forms.ts';
import { operatorKeys } from './keys.ts';
import { baseUrl } from './urls.ts';

const headerName = form.formOf('the name of one header, such as X-Forwarded-Email', (text) =>
  /^[A-Za-z][\w-]{0,63}$/.test(text) && !RESERVED.includes(text.toLowerCase()) ? text.toLowerCase() : undefined,
);

/** Headers that clients set themselves, or that mean something else here. */
const RESERVED = ['host', 'cookie', 'origin', 'authorization', 'user-agent', 'content-type', 'tandem-proxy-secret'];

const proxySecret = form.textThat('32 to 256 letters, digits, dots, underscores, hyphens and signs of Base64', (text) =>
  /^[\w.~+/=-]{32,256}$/.test(text),
);

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
    meaning:
      'The programs that may use the back office, as JSON: a name, scopes (users:read, users:write) and a public key each. npx tandem keys admin makes one.',
  },
  ADMIN_IDENTITY_HEADER: {
    form: headerName,
    meaning:
      'The header in which a proxy sends the name of the person whom it has authenticated, for the pages of the back office, such as X-Forwarded-Email. Needs ADMIN_PROXY_SECRET.',
  },
  ADMIN_PROXY_SECRET: {
    form: proxySecret,
    secret: true,
    meaning:
      'What that proxy sends in the header Tandem-Proxy-Secret, and nobody else knows. openssl rand -hex 32 makes one.',
  },
} as const satisfies Record<string, form.Variable>;
