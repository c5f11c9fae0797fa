import { describe, expect, it } from 'vitest';
import { confirmEmailChange } from '../../../src/application/accounts/change-email.ts';
import { type Pause, registerUnverified } from '../../../src/application/accounts/register-unverified.ts';
import { confirmEmail } from '../../../src/application/accounts/verify-email.ts';
import { login } from '../../../src/application/login/login.ts';
import { DUPLICATE, EMAIL, ORIGIN, registeredAda, WRONG_PASSWORD } from '../../support/account.ts';
import { ADA, DAY, MINUTE, rejections } from '../../support/application.ts';
import { notingPasswordHasher } from '../../support/fakes.ts';
import { tokenIn } from '../../support/mail/sender.ts';
import { beforeNextTransaction, expectAllOrNothing } from '../../support/transactions.ts';

const EVE = { username: 'Eve', email: 'eve@example.org', password: 'staple battery', origin: ORIGIN };
const UNVERIFIED = { code: 'AUTH_EMAIL_UNVERIFIED' };

/** Ada has an account. Eve registers where an address has to be verified before the first log-in. */
/** A pause that lasts until other work had a turn. */
const briefly = () => new Promise((resolve) => setImmediate(resolve));

const setUp = async ({ pause = briefly }: { readonly pause?: Pause } = {}) => {
  const ada = await registeredAda();
  const { app } = ada;
  app.clock.advance(MINUTE);
  const { hashed, hasher } = notingPasswordHasher(app.hasher);
  const deps = { ...app, hasher, pause, emailVerification: 'required' as const };
  const find = () => app.users.findByUsername(EVE.username);
  return {
    ...ada,
    deps,
    hashed,
    register: registerUnverified(deps),
    logInAs: ({ username: account, password }: typeof ADA) => login(deps)({ account, password }),
    verify: () => app.users.update(ada.user.id, { emailVerifiedAt: 1, now: app.clock.now() }),
    findEve: find,
    /** What is stored about Eve. */
    ofEve: async () => ada.about((await find())?.id ?? 'nobody'),
  };
};

describe('registerUnverified, with a free address', () => {
  it('makes an account without a session, and has a link sent', async () => {
    const { app, ofEve, register } = await setUp();
    expect(await register(EVE)).toBeUndefined();
    const { user, sessions, events, messages } = await ofEve();
    expect(user).toMatchObject({ username: 'Eve', emailVerifiedAt: null, createdAt: app.clock.now() });
    expect(sessions).toEqual([]);
    expect(events).toMatchObject([{ kind: 'registered', sessionId: null, ...ORIGIN }]);
    expect(messages).toMatchObject([{ kind: 'email-verification', to: EVE.email, origin: ORIGIN }]);
  });

  it('lets the user log in once the address is verified', async () => {
    const { app, register, logInAs } = await setUp();
    await register(EVE);
    await expect(logInAs(EVE)).rejects.toMatchObject(UNVERIFIED);
    const [mail] = await app.sendAll();
    await confirmEmail(app)({ token: tokenIn(mail ?? { text: 'nothing' }, 'email-verification') });
    expect(await logInAs(EVE)).toHaveProperty('accessToken');
  });

  it('changes all or nothing', async () => {
    const { app, ofEve, register } = await setUp();
    await expectAllOrNothing(app, ofEve, () => register(EVE));
  });
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

  it('changes nothing about a user whose address is verified', async () => {
    const { ofAda, verify, register, logInAs } = await setUp();
    await verify();
    const { user, sessions } = await ofAda();
    await register(TAKEN);
    expect(await ofAda()).toMatchObject({ user, sessions });
    expect(await logInAs(ADA)).toHaveProperty('accessToken');
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

  it('changes all or nothing', async () => {
    const { app, ofAda, register } = await setUp();
    await expectAllOrNothing(app, ofAda, () => register(TAKEN));
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

describe('registerUnverified, with a reserved address', () => {
  it('makes no account, and notifies nobody, as long as it is reserved', async () => {
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

  it('computes one hash', async () => {
    const { hashed, register } = await setUp();
    await register(EVE);
    expect(hashed).toEqual([EVE.password]);
    await register({ ...EVE, username: 'Mallory', email: EMAIL });
    expect(hashed).toEqual([EVE.password, EVE.password]);
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

  it('has no effect once it is cancelled', async () => {
    const { ofAda, findEve, register } = await setUp();
    const before = await ofAda();
    for (const email of [EVE.email, EMAIL]) {
      await expect(register({ ...EVE, email }, AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
    }
    expect(await findEve()).toBeNull();
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

  it('makes one account when many register with a username at once', async () => {
    const { register } = await setUp();
    const all = Array.from({ length: 20 }, (_, number) => register({ ...EVE, email: `eve@${number}.example.org` }));
    expect(await rejections(all)).toEqual(Array(19).fill(expect.objectContaining(DUPLICATE)));
  });
});
