import type { Check } from '../check.ts';
import { dataOf, errorOf, hold } from '../expectations.ts';
import { signedByOthers, tampered, unsigned, withOtherClaims } from '../tokens.ts';
import { tokensOf } from '../world.ts';

const ROTATED =
  '| Valid | `POST /auth/refresh-token` | | Rotated | the old token becomes invalid, a new pair is issued |';
const REFRESHES_AT_ONCE = 4;

export const rotation: readonly Check[] = [
  {
    id: 'refresh',
    source: [
      'Refresh procedure (`POST /auth/refresh-token`)',
      'put the refresh token into the cookie, and return 200 with `accessToken`',
    ],
    title: 'refresh answers 200 with a new access token and a new cookie',
    run: async ({ registered, rotation }) => {
      const { first } = await rotation();
      hold(first.status === 200, '200', `${first.status} (${first.to})`);
      const [before, after] = [tokensOf(await registered()), tokensOf(first)];
      hold(before.access !== after.access, 'another access token', 'the same');
      hold(before.refresh !== after.refresh, 'another refresh token', 'the same');
    },
  },
  {
    id: 'refresh-again',
    source: ['States and transitions', ROTATED],
    title: 'the new refresh token can be used in turn',
    run: async ({ rotation }) => {
      dataOf((await rotation()).second);
    },
  },
  {
    id: 'rotated-token-refused',
    source: ['States and transitions', ROTATED],
    title: 'a refresh token that was used answers 401 AUTH_FAILED',
    run: async ({ rotation }) => {
      for (const reply of (await rotation()).replays) errorOf(reply, 401, 'AUTH_FAILED');
    },
  },
  {
    id: 'one-refresh-wins',
    source: ['States and transitions', ROTATED],
    title: 'of refreshes at once with one token, at most one succeeds',
    run: async ({ registered, login, person, refresh }) => {
      dataOf(await registered());
      const { refresh: token } = tokensOf(await login(person.username, person.password));
      const replies = await Promise.all(Array.from({ length: REFRESHES_AT_ONCE }, () => refresh(token)));
      const succeeded = replies.filter(({ status }) => status === 200);
      hold(succeeded.length === 1, 'one success', `${succeeded.length} of ${replies.length}`);
      for (const reply of replies) if (!succeeded.includes(reply)) errorOf(reply, 401, 'AUTH_FAILED');
    },
  },
  {
    id: 'refresh-without-cookie',
    source: ['Refresh procedure (`POST /auth/refresh-token`)', 'Without it: `AUTH_FAILED`, 401.'],
    title: 'a refresh without the cookie answers 401 AUTH_FAILED',
    run: async ({ refresh }) => {
      errorOf(await refresh(), 401, 'AUTH_FAILED');
    },
  },
  {
    id: 'refresh-malformed',
    source: ['Refresh procedure (`POST /auth/refresh-token`)', 'If that fails: `AUTH_FAILED`, 401.'],
    title: 'a cookie that is no token answers 401 AUTH_FAILED',
    run: async ({ refresh }) => {
      for (const value of ['', 'nothing', 'a.b.c']) errorOf(await refresh(value), 401, 'AUTH_FAILED');
    },
  },
  {
    id: 'refresh-forged',
    source: ['States and transitions', 'fails: wrong signature, or tampered with | Invalid | `AUTH_FAILED`, 401'],
    title: 'a refresh token that is changed, unsigned or signed by others answers 401 AUTH_FAILED',
    run: async ({ tokens, refresh }) => {
      const { refresh: token } = await tokens();
      for (const forged of [tampered(token), withOtherClaims(token), unsigned(token), await signedByOthers(token)])
        errorOf(await refresh(forged), 401, 'AUTH_FAILED');
    },
  },
  {
    id: 'refresh-with-access-token',
    source: ['Refresh procedure (`POST /auth/refresh-token`)', 'Verify its value as a refresh token.'],
    title: 'an access token in the cookie answers 401 AUTH_FAILED',
    run: async ({ tokens, refresh }) => {
      errorOf(await refresh((await tokens()).access), 401, 'AUTH_FAILED');
    },
  },
];
