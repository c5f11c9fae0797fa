import { describe, expect, it, onTestFinished } from 'vitest';
import { createAccountClient, createPendingLoginClient } from '../../client/src/account.ts';
import { AuthError, createAuthClient } from '../../client/src/index.ts';
import { MINUTE } from '../support/application.ts';
import { codeAt, wrongCodeAt } from '../support/authenticator-app.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { closedServices } from '../support/http/account.ts';
import { aPerson } from '../support/http/service.ts';

const start = closedServices();

/** `fetch` with the cookies of one host, as a browser has them. */
const cookieFetch = (): typeof fetch => {
  const cookies = new Map<string, string>();
  return async (input, init) => {
    const request = new Request(input, init);
    request.headers.set('Cookie', [...cookies].map((cookie) => cookie.join('=')).join('; '));
    const response = await fetch(request);
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
};

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

describe('the factors of a user', () => {
  it('are an app and recovery codes that are made, listed and removed; `me` says in short what there is', async () => {
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

  it('reject with the error of the service', async () => {
    const { auth, account, person, clock } = await open();
    await auth.register(person);
    const { id, secret } = await account.factors.addApp();
    const wrong = { id, code: wrongCodeAt(secret, clock.now()) };
    expect(await codeOfError(account.factors.confirmApp(wrong))).toBe('AUTH_SECOND_FACTOR_INVALID');
    expect(await codeOfError(account.factors.removeApp('01M805M0DQRNB7PKSRES70K5MB'))).toBe('DB_RECORD_NOT_FOUND');
    expect(await codeOfError(account.factors.makeRecoveryCodes())).toBe('DB_RECORD_NOT_FOUND');
    clock.advance(10 * MINUTE);
    expect(await codeOfError(account.factors.list())).toBe('AUTH_STEP_UP_REQUIRED');
    expect(await account.me()).toMatchObject({ secondFactor: false, passkeys: 0 });
  });
});

describe('a log-in that waits for a second factor', () => {
  it('says what it waits for, and is finished with a code or a recovery code', async () => {
    const { auth, account, pending, person, codeOf, clock } = await open();
    expect(await codeOfError(pending.show())).toBe('AUTH_SECOND_FACTOR_INVALID');
    await auth.register(person);
    const { id, secret } = await account.factors.addApp();
    const { recoveryCodes } = await account.factors.confirmApp({ id, code: codeOf(secret) });
    const credentials = { account: person.username, password: person.password };
    for (const shown of [() => ({ code: codeOf(secret) }), () => ({ recoveryCode: `${recoveryCodes[0]}` })]) {
      await auth.logout();
      expect(await codeOfError(auth.login(credentials))).toBe('AUTH_SECOND_FACTOR_REQUIRED');
      expect(await pending.show()).toMatchObject({
        ...{ methods: ['totp', 'recovery-code'], enrol: false, passkey: null },
        expiresAt: expect.any(String),
      });
      const wrong = { code: wrongCodeAt(secret, clock.now()) };
      expect(await codeOfError(pending.finish(wrong))).toBe('AUTH_SECOND_FACTOR_INVALID');
      expect(auth.user).toBeNull();
      const { user, recoveryCodes: made } = await pending.finish(shown());
      expect([user.username, made]).toEqual([person.username, []]);
      expect(auth.user).toBe(user);
    }
  });

  it('has the password be enough the next time, if the user wants that', async () => {
    const { auth, account, pending, person, codeOf } = await open();
    await auth.register(person);
    const { id, secret } = await account.factors.addApp();
    await account.factors.confirmApp({ id, code: codeOf(secret) });
    const credentials = { account: person.username, password: person.password };
    await auth.logout();
    await codeOfError(auth.login(credentials));
    await pending.finish({ code: codeOf(secret), remember: true });
    await auth.logout();
    expect((await auth.login(credentials)).username).toBe(person.username);
  });

  it('has the user add an app where log-ins need a factor, and gives recovery codes', async () => {
    const { auth, account, pending, person, codeOf } = await open({ SECOND_FACTOR: 'required' });
    expect(await auth.register(person)).toBeNull();
    expect(await pending.show()).toMatchObject({ enrol: true });
    const { secret } = await pending.addApp();
    const { user, recoveryCodes } = await pending.finish({ code: codeOf(secret) });
    expect([user.username, new Set(recoveryCodes).size]).toEqual([person.username, 10]);
    expect(await account.factors.list()).toMatchObject({ recoveryCodes: 10 });
  });
});
