import { describe, expect, it, vi } from 'vitest';
import { AuthError, createAuthClient } from '../../client/src/index.ts';
import * as testing from '../../client/src/testing.ts';
import { codeBelow } from '../support/checkout/documented-code.ts';

const { createFakeAuthClient } = testing;
const ADA = { account: 'ada', password: 'correct horse' };

describe('a client in memory', () => {
  it('has all members of the client', () => {
    const [fake, real] = [createFakeAuthClient(), createAuthClient({ baseUrl: 'http://127.0.0.1:1' })];
    expect(Object.keys(fake)).toEqual(expect.arrayContaining(Object.keys(real)));
    expect(Object.keys(fake.sessions).sort()).toEqual(Object.keys(real.sessions).sort());
  });

  it('has the user that a test wants, and follows log-ins and log-outs', async () => {
    const auth = createFakeAuthClient({ user: { username: 'ada' } });
    const changes: unknown[] = [];
    const unlisten = auth.onChange((user, why) => changes.push([user?.username ?? null, why]));
    expect(await auth.ready).toMatchObject({ username: 'ada', email: 'ada@example.org' });
    await auth.logout();
    expect([auth.user, await auth.accessToken()]).toEqual([null, null]);
    expect(await auth.login({ ...ADA, account: 'grace' })).toBe(auth.user);
    auth.becomes(null, 'ended');
    unlisten();
    await auth.register({ username: 'eve', email: 'eve@example.com', password: 'x' });
    expect(auth.user).toMatchObject({ username: 'eve', email: 'eve@example.com' });
    expect(changes).toEqual([
      [null, 'logout'],
      ['grace', 'login'],
      [null, 'ended'],
    ]);
  });

  it('logs in with a code who has asked for one', async () => {
    const auth = createFakeAuthClient();
    expect(await auth.requestCode('grace')).toBeNull();
    expect(await auth.logInWithCode('48151623')).toMatchObject({ username: 'grace' });
    expect(auth.calls).toEqual([
      ['requestCode', 'grace'],
      ['logInWithCode', '48151623'],
    ]);
  });

  it('logs in with a provider', async () => {
    const auth = createFakeAuthClient();
    await auth.logInWith('acme', { to: '/notes' });
    expect(auth.user).toMatchObject({ username: 'ada' });
    expect(auth.calls).toEqual([['logInWith', 'acme', { to: '/notes' }]]);
  });

  it('fails as a test wants, once, and records what it was called with', async () => {
    const auth = createFakeAuthClient({ user: { username: 'ada' }, sessions: [] });
    auth.failNext('login', 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', { retryable: true, retryAfter: 7 });
    const error = await auth.login(ADA).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AuthError);
    expect(error).toMatchObject({ code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', retryable: true, retryAfter: 7 });
    auth.failNext('sessions.end', 'DB_RECORD_NOT_FOUND');
    expect(await auth.sessions.list()).toEqual([]);
    await expect(auth.sessions.end('one')).rejects.toMatchObject({ code: 'DB_RECORD_NOT_FOUND', retryable: false });
    await auth.sessions.end('one');
    expect(await auth.login(ADA)).toMatchObject({ username: 'ada' });
    expect(auth.calls.map(([name]) => name)).toEqual([
      ...['login', 'sessions.list', 'sessions.end', 'sessions.end', 'login'],
    ]);
  });

  it('asks for a step-up before a request, or answers 401 as the service does', async () => {
    const onStepUp = vi.fn(async () => auth.stepUp({ password: 'x' }));
    const auth = createFakeAuthClient({ onStepUp, fetch: async () => new Response('notes') });
    auth.askStepUp('second-factor');
    expect(await (await auth.fetch('/notes')).text()).toBe('notes');
    expect(onStepUp.mock.calls).toEqual([['second-factor']]);
    expect(auth.calls.map(([name]) => name)).toEqual(['fetch', 'stepUp']);

    const without = createFakeAuthClient();
    without.askStepUp('recent');
    const response = await without.fetch('/notes');
    expect([response.status, response.headers.get('WWW-Authenticate')]).toEqual([
      401,
      expect.stringMatching(/insufficient_user_authentication/),
    ]);
    expect((await without.fetch('/notes')).status).toBe(200);
  });

  it('is documented with a test that passes', async () => {
    const [sample = ''] = codeBelow('client/README.md', 'Tests of an application', 'js');
    const tests: (() => Promise<void>)[] = [];
    const collect = (_title: string, run: () => Promise<void>) => tests.push(run);
    new Function('require', 'test', 'expect', sample)(() => testing, collect, expect);
    expect(tests).toHaveLength(1);
    for (const run of tests) await run();
  });
});
