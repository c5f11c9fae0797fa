import { expect, it, onTestFinished } from 'vitest';
import { createAccountClient, createPendingLoginClient } from '../../client/src/account.ts';
import { AuthError, createAuthClient } from '../../client/src/index.ts';
import { MINUTE } from '../support/application.ts';
import { codeAt, wrongCodeAt } from '../support/authenticator-app.ts';
import { cookieFetch } from '../support/cookie-fetch.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { serviceStarter } from '../support/http/account.ts';
import { aPerson } from '../support/http/service.ts';

const start = serviceStarter();

/** A service, and somebody with the clients of a browser. */
const open = async (env: Readonly<Record<string, string>> = {}) => {
  const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
  const { url: baseUrl } = await start(env, { clock });
  const auth = createAuthClient({ baseUrl, fetch: cookieFetch() });
  onTestFinished(auth.dispose);
  return {
    ...{ clock, auth, person: aPerson() },
    account: createAccountClient({ baseUrl, fetch: auth.fetch }),
    pending: createPendingLoginClient({ baseUrl, auth }),
    /** The code of the app, and another one each time. */
    codeOf: (secret: string): string => {
      clock.advance(MINUTE);
      return codeAt(secret, clock.now());
    },
  };
};

const codeOfError = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error) => error instanceof AuthError && error.code,
  );

it('the factors of a user are an app and recovery codes that are made, listed and removed; `me` says in short what there is', async () => {
  const { auth, account, person, codeOf } = await open();
  await auth.register(person);
  expect(await account.me()).toMatchObject({ secondFactor: false, passkeys: 0 });
  expect(await account.factors.list()).toEqual({ passkeys: [], totp: [], recoveryCodes: 0 });

  const { id, secret, uri, qr } = await account.factors.addApp();
  expect([uri.includes(secret), qr.startsWith('<svg')]).toEqual([true, true]);
  const { recoveryCodes } = await account.factors.confirmApp({ id, code: codeOf(secret) });
  expect(new Set(recoveryCodes).size).toBe(10);
  expect(await account.me()).toMatchObject({ secondFactor: true });
  expect(await account.factors.list()).toMatchObject({ totp: [{ id }], recoveryCodes: 10 });
  const made = await account.factors.makeRecoveryCodes();
  expect(made.recoveryCodes).not.toEqual(recoveryCodes);
  expect(await account.factors.removeApp(id)).toBeNull();
  expect(await account.factors.list()).toMatchObject({ totp: [], recoveryCodes: 0 });
  expect(await account.me()).toMatchObject({ secondFactor: false });
});

it('a log-in waits for an app that has to be added, then for its code or a recovery code, and not on a remembered device', async () => {
  const { auth, account, pending, person, codeOf, clock } = await open({ SECOND_FACTOR: 'required' });
  expect(await codeOfError(pending.show())).toBe('AUTH_SECOND_FACTOR_INVALID');
  expect(await auth.register(person)).toBeNull();
  expect(await pending.show()).toMatchObject({ methods: [], enrol: true });
  const { secret } = await pending.addApp();
  const { user, recoveryCodes } = await pending.finish({ code: codeOf(secret) });
  expect([auth.user, new Set(recoveryCodes).size]).toEqual([user, 10]);
  expect(await account.factors.list()).toMatchObject({ recoveryCodes: 10 });
  const credentials = { account: person.username, password: person.password };
  for (const shown of [
    () => ({ code: codeOf(secret) }),
    () => ({ recoveryCode: `${recoveryCodes[0]}`, remember: true }),
  ]) {
    await auth.logout();
    expect(await codeOfError(auth.login(credentials))).toBe('AUTH_SECOND_FACTOR_REQUIRED');
    expect(await pending.show()).toMatchObject({
      ...{ methods: ['totp', 'recovery-code'], enrol: false, passkey: null },
      expiresAt: expect.any(String),
    });
    const wrong = { code: wrongCodeAt(secret, clock.now()) };
    expect(await codeOfError(pending.finish(wrong))).toBe('AUTH_SECOND_FACTOR_INVALID');
    expect(auth.user).toBeNull();
    expect(await pending.finish(shown())).toMatchObject({ user: { username: person.username }, recoveryCodes: [] });
    expect(auth.user?.username).toBe(person.username);
  }
  await auth.logout();
  expect((await auth.login(credentials)).username).toBe(person.username);
});
