import { expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { register as openSession, registerPending } from '../../../src/application/accounts/register.ts';
import { registerUnverified } from '../../../src/application/accounts/register-unverified.ts';
import { ADA, application, rejections } from '../../support/application.ts';
import { notingPasswordHasher } from '../../support/fakes.ts';

const EMAIL = 'ada@example.org';
const NUMBERED = /^ada-\d{2}$/;
const LONG = /^ada-\d{8}$/;

const register = (app: ReturnType<typeof application>, email = EMAIL) => app.register({ email });

it('a username that is left out is derived from the address, with a number if it is taken', async () => {
  const app = application();
  const names = [(await register(app)).user, (await register(app, 'ADA@example.com')).user];
  expect(names).toMatchObject([{ username: 'ada' }, { username: expect.stringMatching(NUMBERED) }]);
});

it('users of the same name who register at once get different usernames, and sessions', async () => {
  const app = application();
  const emails = Array.from({ length: 20 }, (_, at) => `ada@${at}.example.org`);
  const sessions = await Promise.all(emails.map((email) => register(app, email)));
  expect(new Set(sessions.map(({ user }) => user.username)).size).toBe(emails.length);
  for (const { user, accessToken } of sessions) {
    const verified = await app.tokens.verifyAccess(accessToken, app.clock.now());
    expect(verified).toMatchObject({ token: { claims: { user: { username: user.username } } } });
    expect(await app.users.findById(user.id)).toMatchObject({ username: user.username });
  }
});

it('an address is registered once, and the refusal names it, not the username', async () => {
  const app = application();
  const refused = await rejections([register(app), register(app), register(app)]);
  const message = 'This email is already registered.';
  expect(refused).toMatchObject([{ code: 'AUTH_USER_DUPLICATE', message }, { message }]);
});

it('a failure is no reason to try another username', async () => {
  const { users } = memoryStorage();
  let adds = 0;
  const app = application({
    users: {
      ...users,
      add: async (user) => {
        adds += 1;
        await users.add(user);
        throw new Error('down');
      },
    },
  });
  await expect(register(app)).rejects.toThrow('down');
  expect(adds).toBe(1);
});

it('a user without a password has presented none, and nobody can log in with one', async () => {
  const app = application({ jwtAuthenticationClaims: true });
  const { user, accessToken } = await register(app);
  const { token } = (await app.tokens.verifyAccess(accessToken, app.clock.now())) as { token: { claims: object } };
  expect(token.claims).toMatchObject({ amr: [], acr: 'aal1' });
  for (const password of ['', 'undefined', 'correct horse'])
    await expect(app.login({ account: user.email, password })).rejects.toMatchObject({
      code: 'AUTH_CREDENTIALS_INVALID',
    });
});

it('a password that is left out costs no hash', async () => {
  const app = application();
  const { hashed, hasher } = notingPasswordHasher(app.hasher);
  const run = registerPending({ ...app, hasher });
  for (const email of [EMAIL, 'bob@example.org']) expect(await run({ email })).toBeNull();
  expect(hashed).toEqual([]);
});

it('the username of an address that is verified later shows nobody that somebody has the address', async () => {
  const app = application();
  const deps = { ...app, pause: async () => undefined, emailVerification: 'required' as const };
  const run = registerUnverified(deps);
  for (const email of [EMAIL, EMAIL, 'ada@example.com']) expect(await run({ email })).toBeUndefined();
  for (const email of [EMAIL, 'ada@example.com'])
    expect(await app.users.findByEmail(email)).toMatchObject({ username: expect.stringMatching(LONG) });
  expect(await run({ ...ADA, email: 'other@example.org' })).toBeUndefined();
});

it.each(Object.entries({ openSession, registerPending, registerUnverified }))(
  'the hook is asked before anything is stored, and outside of transactions: %s',
  async (_name, use) => {
    const app = application();
    const transactions = vi.spyOn(app.transactions, 'run');
    const seen: unknown[] = [];
    const deps = { ...app, pause: async () => undefined, emailVerification: 'required' as const };
    await use({
      ...deps,
      beforeRegister: async ({ email }) => {
        seen.push(transactions.mock.calls.length, await app.users.findByEmail(email));
        return { decision: 'allow' };
      },
    })(ADA);
    expect(seen).toEqual([0, null]);
    expect(transactions).toHaveBeenCalled();
    expect(await app.users.findByEmail(EMAIL)).not.toBeNull();
  },
);
