import type { Check } from '../check.ts';
import type { Reply } from '../client.ts';
import {
  dataOf,
  errorOf,
  expectMembers,
  expectText,
  expectTime,
  expectUlid,
  hold,
  isObject,
  membersOf,
} from '../expectations.ts';
import { type Person, tokensOf } from '../world.ts';

const USER_MEMBERS = ['id', 'username', 'email', 'createdAt', 'updatedAt'];

/** The user of a response, which has to be this person. */
const expectUser = (reply: Reply, { username, email }: Person): void => {
  const { user } = membersOf(reply);
  hold(isObject(user), 'user as an object', user);
  expectMembers(user, USER_MEMBERS, 'a user');
  expectUlid(user.id, 'user.id');
  hold(user.username === username && user.email === email, `the user ${username}, ${email}`, user);
  for (const name of ['createdAt', 'updatedAt']) expectTime(user[name], `user.${name}`);
};

const TAKEN = 'Registering with one that is taken fails with `AUTH_USER_DUPLICATE`.';

export const accounts: readonly Check[] = [
  {
    id: 'register',
    source: ['Endpoints', '`accessToken` (string), `user` (a User without `passwordHash`)'],
    title: 'register returns an access token and the user',
    run: async ({ registered, person }) => {
      expectUser(await registered(), person);
      expectText(membersOf(await registered()).accessToken, 'accessToken');
    },
  },
  {
    id: 'duplicate-username',
    source: ['User', TAKEN],
    title: 'a username that is taken answers 409 AUTH_USER_DUPLICATE',
    run: async ({ registered, send, person }) => {
      dataOf(await registered());
      const body = { ...person, email: `other.${person.email}` };
      errorOf(await send({ method: 'POST', path: '/auth/register', body }), 409, 'AUTH_USER_DUPLICATE');
    },
  },
  {
    id: 'duplicate-email',
    source: ['User', TAKEN],
    title: 'an email that is taken answers 409 AUTH_USER_DUPLICATE',
    run: async ({ registered, send, person }) => {
      dataOf(await registered());
      const body = { ...person, username: `${person.username}x` };
      errorOf(await send({ method: 'POST', path: '/auth/register', body }), 409, 'AUTH_USER_DUPLICATE');
    },
  },
  {
    id: 'login-username',
    source: ['Endpoints', 'JSON body with `account` (string, a username or an email; the service finds out which)'],
    title: 'log-in with the username returns an access token and the user',
    run: async ({ loggedIn, person }) => {
      expectUser(await loggedIn(), person);
      expectText(membersOf(await loggedIn()).accessToken, 'accessToken');
    },
  },
  {
    id: 'login-email',
    source: ['Endpoints', 'JSON body with `account` (string, a username or an email; the service finds out which)'],
    title: 'log-in with the email returns the same user',
    run: async ({ registered, login, person }) => {
      dataOf(await registered());
      expectUser(await login(person.email, person.password), person);
    },
  },
  {
    id: 'login-wrong-password',
    source: ['Catalog', '| `AUTH_CREDENTIALS_INVALID` | 401 | no | no account has this name and password |'],
    title: 'log-in with a wrong password answers 401 AUTH_CREDENTIALS_INVALID',
    run: async ({ registered, login, person }) => {
      dataOf(await registered());
      errorOf(await login(person.username, `${person.password}x`), 401, 'AUTH_CREDENTIALS_INVALID');
    },
  },
  {
    id: 'login-unknown-account',
    source: ['Catalog', '| `AUTH_CREDENTIALS_INVALID` | 401 | no | no account has this name and password |'],
    title: 'log-in with an unknown account answers 401 AUTH_CREDENTIALS_INVALID',
    run: async ({ login, person }) => {
      errorOf(await login(`${person.username}-nobody`, person.password), 401, 'AUTH_CREDENTIALS_INVALID');
    },
  },
  {
    id: 'public-routes',
    source: ['Route guard', '| `public` | Needs no token. The request passes. |'],
    title: 'routes below /auth pass whatever the Authorization header has',
    run: async ({ registered, send, login, person }) => {
      dataOf(await registered());
      const headers = { authorization: 'Bearer invalid' };
      tokensOf(await login(person.username, person.password, headers));
      const { status, to } = await send({ method: 'GET', path: '/auth/clear-cookie', headers });
      hold(status >= 200 && status < 300, 'a status of 2xx', `${status} (${to})`);
      errorOf(await send({ method: 'POST', path: '/auth/refresh-token', headers }), 401, 'AUTH_FAILED');
    },
  },
  {
    id: 'no-secrets',
    source: ['Password handling', 'No response and no token contains the hash.'],
    title: 'no response contains a password or its hash',
    run: async ({ successes, errors, person }) => {
      for (const { text, to } of [...(await successes()), ...(await errors()).map(([reply]) => reply)]) {
        hold(!/password_?hash|\$2[aby]\$\d\d\$/i.test(text), 'no hash', `a hash (${to})`);
        hold(!text.includes(person.password), 'no password', `the password (${to})`);
      }
    },
  },
];
