import { postJson } from '../load/connection.ts';
import { type Calls, type Credentials, cookieHeader, PASSWORD } from './system.ts';

/** better-auth reads a client's address from a header alone. */
const ADDRESS = { 'X-Forwarded-For': '127.0.0.1' };

const session = (query: string) => (credentials: Credentials) => ({
  method: 'GET' as const,
  path: `/api/auth/get-session${query}`,
  headers: { ...ADDRESS, Cookie: credentials.cookie },
  status: 200,
  // Without a session it answers 200 too, with `null`.
  containing: credentials.person.username,
});

const withAddress = (call: ReturnType<typeof postJson>) => ({ ...call, headers: { ...call.headers, ...ADDRESS } });

export const BETTER_AUTH: Calls = {
  register: ({ username, email }) =>
    withAddress(
      postJson(
        '/api/auth/sign-up/email',
        { name: username, email, password: PASSWORD },
        { status: 200, containing: username },
      ),
    ),
  logIn: ({ username, email }) =>
    withAddress(
      postJson('/api/auth/sign-in/email', { email, password: PASSWORD }, { status: 200, containing: username }),
    ),
  credentials: (person, answer) => ({ person, cookie: cookieHeader(answer), accessToken: '' }),
  refresh: session('?disableCookieCache=true'),
  refreshed: (credentials, answer) => ({ ...credentials, cookie: cookieHeader(answer) }),
  session: session(''),
  me: session('?disableCookieCache=true&disableRefresh=true'),
};

const refreshTokenOf = ({ body }: { readonly body: string }): string => JSON.parse(body).refresh_token;

const CLIENT_SECRET = Buffer.from('bench:a-secret-of-the-bench').toString('base64');

/** RFC 6749 §6. A grant is opened by a route of the bench, since a log-in needs a browser there. */
export const OIDC: Calls = {
  logIn: ({ username }) => ({
    method: 'GET',
    path: `/bench/grant?account=${username}`,
    headers: {},
    status: 200,
    containing: 'refresh_token',
  }),
  credentials: (person, answer) => ({ person, cookie: refreshTokenOf(answer), accessToken: '' }),
  refresh: ({ cookie }) => ({
    method: 'POST',
    path: '/token',
    headers: { Authorization: `Basic ${CLIENT_SECRET}`, 'Content-Type': 'application/x-www-form-urlencoded' },
    body: `grant_type=refresh_token&refresh_token=${cookie}`,
    status: 200,
    containing: 'id_token',
  }),
  refreshed: (credentials, answer) => ({ ...credentials, cookie: refreshTokenOf(answer) }),
};
