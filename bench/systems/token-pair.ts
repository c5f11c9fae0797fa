import { type Answer, postJson } from '../load/connection.ts';
import { type Calls, type Credentials, cookieHeader, PASSWORD } from './system.ts';

const bearer = ({ accessToken }: Credentials) => ({ Authorization: `Bearer ${accessToken}` });

const accessTokenOf = ({ body }: Answer): string => /"accessToken":"([^"]+)"/.exec(body)?.[1] ?? '';

/** The routes of Tandem, which the peers that are written here have too. */
export const TOKEN_PAIR: Calls = {
  register: ({ username, email }) =>
    postJson('/auth/register', { username, email, password: PASSWORD }, { status: 201, containing: username }),
  logIn: ({ username }) =>
    postJson('/auth/login', { account: username, password: PASSWORD }, { status: 200, containing: username }),
  credentials: (person, answer) => ({ person, cookie: cookieHeader(answer), accessToken: accessTokenOf(answer) }),
  refresh: ({ cookie }) => ({
    method: 'POST',
    path: '/auth/refresh-token',
    headers: { Cookie: cookie },
    status: 200,
    containing: 'accessToken',
  }),
  refreshed: (credentials, answer) => ({ ...credentials, cookie: cookieHeader(answer) }),
  session: (credentials) => ({
    method: 'GET',
    path: '/auth/session',
    headers: bearer(credentials),
    status: 200,
    containing: credentials.person.username,
  }),
  me: (credentials) => ({
    method: 'GET',
    path: '/users/me',
    headers: bearer(credentials),
    status: 200,
    containing: credentials.person.username,
  }),
};
