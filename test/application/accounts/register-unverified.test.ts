// Proves network-8, guess-1
import { describe, expect, it } from 'vitest';
import { confirmEmailChange } from '../../../src/application/accounts/change-email.ts';
import { confirmEmail, removeUnverifiedAccount } from '../../../src/application/accounts/mail-links.ts';
import { setAttributes } from '../../../src/application/accounts/operate-accounts.ts';
import { padResponseTime, registerUnverified } from '../../../src/application/accounts/register-unverified.ts';
import { reserveUndo } from '../../../src/application/links.ts';
import { login } from '../../../src/application/login/login.ts';
import type { Pause } from '../../../src/application/service.ts';
import type { Attributes } from '../../../src/domain/attributes.ts';
import { DUPLICATE, EMAIL, INVALID_LINK, ORIGIN, registeredAda, WRONG_PASSWORD } from '../../support/account.ts';
import { ADA, DAY, MINUTE } from '../../support/application.ts';
import { aPasskey, aSession } from '../../support/builders.ts';
import { notingPasswordHasher } from '../../support/fakes.ts';
import { tokenIn } from '../../support/mail/sender.ts';
import { beforeNextTransaction } from '../../support/transactions.ts';

const EVE = { username: 'Eve', email: 'eve@example.org', password: 'staple battery', origin: ORIGIN };
const UNVERIFIED = { code: 'AUTH_EMAIL_UNVERIFIED' };
const WAIT = { code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', retryAfter: 1 };

/** A pause that lasts until other work had a turn. */
const briefly = () => new Promise((resolve) => setImmediate(resolve));

/** Ada has an account. Eve registers where an address has to be verified before the first log-in. */
const setUp = async ({ pause = briefly }: { readonly pause?: Pause } = {}) => {
  const ada = await registeredAda();
  const { app } = ada;
  app.clock.advance(MINUTE);
  const { hashed, compared, hasher } = notingPasswordHasher(app.hasher);
  const counted: string[] = [];
  const attempts: typeof app.attempts = {
    ...app.attempts,
    begin: (attempt) => {
      counted.push(`${attempt.key} of ${attempt.client.names}`);
      return app.attempts.begin(attempt);
    },
    succeed: (attempt) => {
      counted.push('right');
      return app.attempts.succeed(attempt);
    },
  };
  const deps = { ...app, hasher, attempts, pause, emailVerification: 'required' as const };
  const find = () => app.users.findByUsername(EVE.username);
  return {
    ...ada,
    deps,
    ...{ hashed, compared, counted },
    register: registerUnverified(deps),
    logInAs: ({ username: account, password }: typeof ADA) => login(deps)({ account, password }),
    verify: () => app.users.update(ada.user.id, { emailVerifiedAt: 1, now: app.clock.now() }),
    findEve: find,
    /** What is stored about Eve. */
    ofEve: async () => ada.about((await find())?.id ?? 'nobody'),
  };
};

it('registerUnverified, with a free address makes an account without a session, and has a link sent', async () => {
  const { app, ofEve, register } = await setUp();
  expect(await register(EVE)).toBeUndefined();
  const { user, sessions, events, messages } = await ofEve();
  expect(user).toMatchObject({ username: 'Eve', emailVerifiedAt: null, createdAt: app.clock.now() });
  expect(sessions).toEqual([]);
  expect(events).toMatchObject([{ kind: 'registered', sessionId: null, ...ORIGIN }]);
  expect(messages).toMatchObject([{ kind: 'email-verification', to: EVE.email, origin: ORIGIN }]);
});

describe('registerUnverified, with the address of an account', () => {
  const TAKEN = { ...EVE, email: 'ADA@example.org' };

  it('makes no account, and notifies the owner alone', async () => {
    const { ofAda, happened, pending, findEve, verify, register } = await setUp();
    await verify();
    expect(await register(TAKEN)).toBeUndefined();
    expect(await findEve()).toBeNull();
    expect(await pending()).toEqual([`address-taken to ${EMAIL}`]);
    expect(await happened()).toEqual(['registration-refused', 'registered']);
    expect((await ofAda()).events[0]).toMatchObject(ORIGIN);
  });

  it('makes both passwords invalid when the address is not verified, until its owner sets one by mail', async () => {
    const { app, ofAda, register, logInAs } = await setUp();
    await register(TAKEN);
    for (const { password } of [ADA, TAKEN]) {
      await expect(logInAs({ ...ADA, password })).rejects.toMatchObject(WRONG_PASSWORD);
    }
    expect((await ofAda()).user).toMatchObject({ passwordChangedAt: app.clock.now(), username: ADA.username });
    expect((await ofAda()).sessions).toHaveLength(1);
    await app.sendAll();
    await app.requestPasswordReset(EMAIL);
    const [mail] = await app.sendAll();
    const token = tokenIn(mail ?? { text: 'nothing' }, 'password-reset');
    await app.resetPassword({ token, newPassword: 'another staple' });
    expect(await logInAs({ ...ADA, password: 'another staple' })).toHaveProperty('accessToken');
  });

  it('notifies the owner five times a day, and still leaves no password valid', async () => {
    const { app, happened, pending, setPassword, register, logInAs } = await setUp();
    for (let count = 0; count < 7; count += 1) await register(TAKEN);
    expect(await pending()).toHaveLength(5);
    expect((await happened()).filter((what) => what === 'registration-refused')).toHaveLength(5);
    await setPassword(ADA.password, { isNew: true });
    await register(TAKEN);
    await expect(logInAs(ADA)).rejects.toMatchObject(WRONG_PASSWORD);
    app.clock.advance(DAY + 1);
    await register(TAKEN);
    expect(await pending()).toHaveLength(6);
  });
});

describe('registerUnverified, with the username of an account', () => {
  it.each([
    ['free', EVE.email],
    ['taken', EMAIL],
  ])('is refused, and notifies nobody, when the address is %s', async (_what, email) => {
    const { app, ofAda, register } = await setUp();
    const before = await ofAda();
    await expect(register({ ...EVE, username: 'aDA', email })).rejects.toMatchObject(DUPLICATE);
    expect(await ofAda()).toEqual(before);
    expect(await app.sendAll()).toEqual([]);
  });
});

describe('registerUnverified, with the username and the password of an account that was never verified', () => {
  const MISTYPED = { ...EVE, email: 'eve@exmaple.org' };
  const AGAIN = { ...EVE, username: 'eVE' };
  /** Eve has registered with an address that is not hers, and its owner has got the links. */
  const mistyped = async () => {
    const given = await setUp();
    await given.register(MISTYPED);
    const [mail = { text: 'nothing' }] = await given.app.sendAll();
    const tokens = (['email-verification', 'not-me'] as const).map((purpose) => tokenIn(mail, purpose));
    const eve = (await given.findEve()) ?? expect.unreachable();
    const change = (fields: object) => given.app.users.update(eve.id, { ...fields, now: given.app.clock.now() });
    return {
      ...given,
      eve,
      tokens,
      change,
      refused: () => expect(given.register(AGAIN)).rejects.toMatchObject(DUPLICATE),
    };
  };

  it('gives the account the new address, and ends what was sent to the first one', async () => {
    const { app, eve, tokens, register, ofEve, logInAs } = await mistyped();
    await reserveUndo(app, app, eve, []);
    expect(await register(AGAIN)).toBeUndefined();
    const { user, events, links, messages } = await ofEve();
    expect(user).toMatchObject({ id: eve.id, username: 'Eve', email: EVE.email, emailVerifiedAt: null });
    expect(events.map(({ kind }) => kind)).toEqual(['email-changed', 'registered']);
    expect(links).toEqual([]);
    expect(messages).toMatchObject([{ kind: 'email-verification', to: EVE.email }]);
    for (const token of tokens) {
      await expect(confirmEmail(app)({ token })).rejects.toMatchObject(INVALID_LINK);
      await expect(removeUnverifiedAccount(app)(token)).rejects.toMatchObject(INVALID_LINK);
    }
    const [mail] = await app.sendAll();
    await confirmEmail(app)({ token: tokenIn(mail ?? { text: 'nothing' }, 'email-verification') });
    expect(await logInAs(EVE)).toHaveProperty('accessToken');
  });

  it('leaves the first address to its owner at once, also before its mail was sent', async () => {
    const { app, register, findEve } = await setUp();
    await register(MISTYPED);
    await register(AGAIN);
    expect((await app.sendAll()).map(({ to }) => to)).toEqual([EVE.email]);
    await register({ ...MISTYPED, username: 'Mallory', password: 'the horse of another' });
    expect(await app.users.findByEmail(MISTYPED.email)).toMatchObject({ username: 'Mallory' });
    expect(await findEve()).toMatchObject({ email: EVE.email });
  });

  it('has what the hook says of the new address', async () => {
    const { deps, register, findEve } = await mistyped();
    const saying = (attributes: Attributes) =>
      registerUnverified({ ...deps, beforeRegister: async () => ({ decision: 'allow', attributes }) });
    await saying({ staff: true })({ ...AGAIN, email: 'eve@company.example' });
    await saying({ plan: 'gold' })(AGAIN);
    expect(await findEve()).toMatchObject({ email: EVE.email });
    expect((await findEve())?.attributes).toEqual({ plan: 'gold' });
    await register(AGAIN);
    expect(await findEve()).toMatchObject({ attributes: { plan: 'gold' } });
  });

  it.each([
    ['without a hook', {}],
    ['where a hook says something else of the new address', { plan: 'gold' }],
  ])('keeps what an operator has stated, %s', async (_what, ofHook) => {
    const { app, deps, eve, findEve } = await mistyped();
    const attributes = { blockedFrom: ['chat'] };
    await setAttributes(app)(eve.id, attributes, ORIGIN);
    const beforeRegister = async () => ({ decision: 'allow', attributes: ofHook }) as const;
    await registerUnverified('plan' in ofHook ? { ...deps, beforeRegister } : deps)(AGAIN);
    expect(await findEve()).toMatchObject({ email: EVE.email, attributes });
  });

  it('sends the link again when the address is the same', async () => {
    const { app, eve, register, ofEve } = await mistyped();
    await register(MISTYPED);
    expect((await ofEve()).user).toEqual(eve);
    app.clock.advance(10 * MINUTE);
    expect((await app.sendAll()).map(({ to }) => to)).toEqual([MISTYPED.email]);
  });

  it.each([
    ['of another account: its owner is notified', false],
    ['that is reserved', true],
  ])('responds the same, and keeps the address, when the new one is %s', async (_what, isReserved) => {
    const { app, eve, linkIn, register, ofEve, pending, verify } = await mistyped();
    await verify();
    if (isReserved) {
      const token = await linkIn({ kind: 'email-change', to: 'ada@new.example.org' }, 'email-change');
      await confirmEmailChange(app)({ token, password: ADA.password });
    }
    const before = await ofEve();
    const waiting = await pending();
    expect(await register({ ...AGAIN, email: EMAIL })).toBeUndefined();
    expect(await ofEve()).toEqual({ ...before, user: eve });
    expect(await pending()).toEqual(isReserved ? waiting : [`address-taken to ${EMAIL}`]);
  });

  it.each<[string, (given: Awaited<ReturnType<typeof mistyped>>) => Promise<unknown>]>([
    ['is verified', ({ change }) => change({ emailVerifiedAt: 1 })],
    ['is disabled', ({ change }) => change({ disabledAt: 1 })],
    [
      'was imported',
      async ({ app, eve }) => {
        await app.users.remove(eve.id);
        await app.users.add({ ...eve, importedFactors: [] });
      },
    ],
    [
      'got a password by a link',
      async ({ app, eve: { id, passwordHash } }) =>
        app.users.setPasswordHash(id, { passwordHash, isOfNewPassword: true, now: app.clock.now() }),
    ],
    [
      'has a session',
      ({ app, eve }) => app.sessions.add(aSession({ userId: eve.id, expiresAt: app.clock.now() + DAY })),
    ],
    ['has a passkey', ({ app, eve }) => app.records.insert('passkeys', aPasskey({ userId: eve.id }))],
  ])('is refused when the account %s, also if that happens meanwhile', async (_what, happens) => {
    const earlier = await mistyped();
    await happens(earlier);
    const before = await earlier.ofEve();
    await earlier.refused();
    expect(await earlier.ofEve()).toEqual(before);
    const meanwhile = await mistyped();
    beforeNextTransaction(meanwhile.app, () => happens(meanwhile));
    await meanwhile.refused();
    expect((await meanwhile.findEve())?.email).toBe(MISTYPED.email);
  });

  it('is refused with another password, whose guesses count as those of a log-in', async () => {
    const { eve, register, findEve, logInAs } = await mistyped();
    const guess = { ...AGAIN, password: 'a wrong guess' };
    for (let count = 0; count < 25; count += 1) {
      await expect(register(guess)).rejects.toMatchObject(DUPLICATE);
      await expect(logInAs(guess)).rejects.toMatchObject(WRONG_PASSWORD);
    }
    await expect(register(guess)).rejects.toMatchObject(WAIT);
    await expect(register(AGAIN)).rejects.toMatchObject(WAIT);
    await expect(logInAs(EVE)).rejects.toMatchObject(WAIT);
    expect(await findEve()).toEqual(eve);
  });

  it('compares one password, and counts it, whether or not the account of the name is verified', async () => {
    const { compared, counted, verify, register } = await setUp();
    const ofAda = { ...EVE, username: 'ada', password: ADA.password, networks: ['a network'] };
    await expect(register(ofAda)).rejects.toMatchObject(DUPLICATE);
    await verify();
    await expect(register(ofAda)).rejects.toMatchObject(DUPLICATE);
    expect(compared).toEqual([ADA.password, ADA.password]);
    // The right password of a verified account is none here: it is counted as a wrong one.
    expect(counted).toEqual(['account ada 0 of a network', 'right', 'account ada 0 of a network']);
    await register(EVE);
    expect(compared).toHaveLength(2);
  });
});

it('registerUnverified, with a reserved address makes no account, and notifies nobody, as long as it is reserved', async () => {
  const { app, ofAda, linkIn, findEve, register } = await setUp();
  const token = await linkIn({ kind: 'email-change', to: 'ada@new.example.org' }, 'email-change');
  await confirmEmailChange(app)({ token, password: ADA.password });
  const before = await ofAda();
  expect(await register({ ...EVE, email: EMAIL })).toBeUndefined();
  expect(await findEve()).toBeNull();
  expect(await ofAda()).toEqual(before);
  app.clock.advance(7 * DAY);
  await register({ ...EVE, email: EMAIL });
  expect(await findEve()).toMatchObject({ email: EMAIL });
});

it('work in steps that takes longer ends at the end of the step in which it is done', async () => {
  const steps: PromiseWithResolvers<void>[] = [];
  const pause = () => {
    const step = Promise.withResolvers<void>();
    steps.push(step);
    return step.promise;
  };
  const work = Promise.withResolvers<string>();
  let isOver = false;
  const working = padResponseTime(pause, 100, () => work.promise).finally(() => {
    isOver = true;
  });
  steps[0]?.resolve();
  await briefly();
  expect(steps).toHaveLength(2);
  work.resolve('done');
  await briefly();
  expect(isOver).toBe(false);
  steps[1]?.resolve();
  expect(await working).toBe('done');
  expect(steps).toHaveLength(2);
});

describe('registerUnverified', () => {
  it.each([
    ['a free address', {}, undefined],
    ['the address of an account', { email: EMAIL }, undefined],
    ['the username of an account', { username: 'ada' }, DUPLICATE.code],
  ])('ends at the same time, whatever there was to store: with %s', async (_what, given, refusal) => {
    const [pauses, over] = [[] as number[], Promise.withResolvers<void>()];
    const pause = (time: number) => {
      pauses.push(time);
      return over.promise;
    };
    const { deps } = await setUp({ pause });
    const stored = Promise.withResolvers<void>();
    const transactions: typeof deps.transactions = {
      run: (work) => deps.transactions.run(work).finally(stored.resolve),
    };
    let isOver = false;
    const registration = registerUnverified({ ...deps, transactions })({ ...EVE, ...given })
      .then(
        () => undefined,
        ({ code }) => code,
      )
      .finally(() => {
        isOver = true;
      });
    await stored.promise;
    await briefly();
    expect([isOver, pauses]).toEqual([false, [100]]);
    over.resolve();
    expect(await registration).toBe(refusal);
    expect(pauses).toEqual([100]);
  });

  it('refuses an easy password before it reads anything', async () => {
    const { deps, ofAda, hashed } = await setUp();
    const before = await ofAda();
    const register = registerUnverified({ ...deps, isCommonPassword: () => true });
    for (const email of [EVE.email, EMAIL]) {
      await expect(register({ ...EVE, email })).rejects.toMatchObject({
        code: 'CLIENT_PARAMS_VALIDATION_FAILED',
        details: [{ field: 'password', code: 'too_common' }],
      });
    }
    expect(hashed).toEqual([]);
    expect(await ofAda()).toEqual(before);
  });

  it('begins anew when somebody gets the address meanwhile', async () => {
    const { app, about, findEve, register } = await setUp();
    let userId = '';
    beforeNextTransaction(app, async () => {
      const { user } = await app.register({ ...EVE, username: 'Mallory' });
      userId = user.id;
    });
    expect(await register(EVE)).toBeUndefined();
    expect(await findEve()).toBeNull();
    expect((await about(userId)).messages).toMatchObject([{ kind: 'address-taken', to: EVE.email }]);
  });

  it('begins anew when the address becomes free meanwhile, and stores the password', async () => {
    const { app, user, findEve, hashed, register, logInAs } = await setUp();
    beforeNextTransaction(app, () => app.users.remove(user.id));
    await register({ ...EVE, email: EMAIL });
    expect(await findEve()).toMatchObject({ email: EMAIL });
    expect(hashed).toHaveLength(1);
    await expect(logInAs(EVE)).rejects.toMatchObject(UNVERIFIED);
  });

  // A registration that has to compute another hash is answered later, and so shows that the address was free.
  it('makes one account when many register with an address at once, and responds to each the same at the same cost', async () => {
    const { app, about, hashed, register } = await setUp();
    const names = Array.from({ length: 20 }, (_, number) => `Eve.${number}`);
    const all = await Promise.all(names.map((username) => register({ ...EVE, username })));
    expect(all).toEqual(Array(20).fill(undefined));
    expect(hashed).toEqual(Array(20).fill(EVE.password));
    const users = await Promise.all(names.map((name) => app.users.findByUsername(name)));
    const [winner, ...others] = users.filter((user) => user !== null);
    expect(others).toEqual([]);
    const kinds = (await about(winner?.id ?? 'nobody')).messages.map(({ kind }) => kind);
    expect(kinds).toEqual(['email-verification', ...Array(5).fill('address-taken')]);
  });
});
