import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { createAccountClient } from '../../client/src/account.ts';
import { AuthError, createAuthClient } from '../../client/src/index.ts';
import type { AccountExport, CurrentUser } from '../../client/src/types.ts';
import { passkeysOf } from '../../src/application/storage/credentials.ts';
import { waitingMessages } from '../../src/application/storage/outbox.ts';
import type { LinkPurpose } from '../../src/domain/link.ts';
import { aPasskey } from '../support/builders.ts';
import { cookieFetch } from '../support/cookie-fetch.ts';
import { linkIdentity, linksOf, mailedCode, messagesTo, serviceStarter, storeLink } from '../support/http/account.ts';
import { aPerson } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';

const NEW_PASSWORD = 'a new correct horse';

const start = serviceStarter();
const service = await start();

const errorOf = async (promise: Promise<unknown>): Promise<AuthError> => {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AuthError);
  return error as AuthError;
};

/** The calls of somebody who is not logged in. */
const anybody = ({ url } = service) => createAccountClient({ baseUrl: `${url}/` });

/** A user who is logged in with the AuthClient, and the calls of that user. */
const ada = async ({ url } = service) => {
  const sent: string[] = [];
  const recorded: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    sent.push(`${request.method} ${new URL(request.url).pathname}`);
    return fetch(request);
  };
  const auth = createAuthClient({ baseUrl: url, fetch: recorded });
  onTestFinished(auth.dispose);
  const person = aPerson();
  const user = await auth.register(person);
  if (!user) throw new Error('nobody is logged in');
  const token = (purpose: LinkPurpose, email = user.email) => storeLink(service, { userId: user.id, purpose, email });
  return { sent, person, user, token, account: createAccountClient({ baseUrl: url, fetch: auth.fetch }) };
};
const logsIn = async (account: string, password: string): Promise<boolean> =>
  (await service.http.post('/auth/login').send({ account, password })).status === 200;
/** Requests for mail, and mail, that wait to be sent. */
const waiting = async () => (await waitingMessages(service.ports.records)).count;
const storedUser = (id: string) => service.ports.users.findById(id);

describe('calls that need no user', () => {
  it.each(['requestPasswordReset', 'requestEmailVerification'] as const)(
    '%s asks for a mail, and answers the same for every address',
    async (request) => {
      const { user } = await ada();
      const before = await waiting();
      for (const email of [user.email, 'nobody@example.org']) expect(await anybody()[request](email)).toBeNull();
      expect(await waiting()).toBe(before + 2);
    },
  );

  it('resetPassword sets a new password, once', async () => {
    const { person, token } = await ada();
    const reset = { token: await token('password-reset'), newPassword: NEW_PASSWORD };
    expect(await anybody().resetPassword(reset)).toBeNull();
    expect(await logsIn(person.username, NEW_PASSWORD)).toBe(true);
    expect((await errorOf(anybody().resetPassword(reset))).code).toBe('AUTH_LINK_INVALID');
  });

  it('verifyEmail verifies the address', async () => {
    const { user, token } = await ada();
    expect(await anybody().verifyEmail(await token('email-verification'))).toBeNull();
    expect((await storedUser(user.id))?.emailVerifiedAt).toEqual(expect.any(Number));
  });

  it('refuseRegistration removes the account', async () => {
    const { user, token } = await ada();
    expect(await anybody().refuseRegistration(await token('not-me'))).toBeNull();
    expect(await storedUser(user.id)).toBeNull();
  });

  it('confirmEmailChange and undoEmailChange change the address, there and back', async () => {
    const { account, person, user, token } = await ada();
    await service.ports.users.update(user.id, { emailVerifiedAt: 1, now: Date.now() });
    const [email, another] = [aPerson().email, aPerson().email];
    const link = { token: await token('email-change', email) };
    expect(await anybody().previewEmailChange(link.token)).toMatchObject({ username: user.username });
    expect((await errorOf(anybody().confirmEmailChange(link))).fields).toMatchObject([{ field: 'password' }]);
    expect(await anybody().confirmEmailChange({ ...link, password: person.password })).toBeNull();
    const opened = await account.confirmEmailChange({ token: await token('email-change', another) });
    expect(opened).toMatchObject({ accessToken: expect.any(String) });
    expect((await storedUser(user.id))?.email).toBe(another);
    const back = { token: await token('email-change', email), password: person.password };
    expect(await anybody().confirmEmailChange(back)).toBeNull();
    expect((await storedUser(user.id))?.email).toBe(email);
    expect(await anybody().undoEmailChange(await token('email-change-undo'))).toBeNull();
    expect((await storedUser(user.id))?.email).toBe(user.email);
  });

  it('undoFactors removes what was added', async () => {
    const { user, token } = await ada();
    await service.ports.records.insert('passkeys', aPasskey({ userId: user.id, createdAt: Date.now() }));
    expect(await anybody().undoFactors(await token('factors-undo'))).toBeNull();
    expect(await passkeysOf(service.ports.records, user.id)).toEqual([]);
  });
});

it('logInWithCode logs in with the code of the mail that requestCode has asked for', async () => {
  const mailer = memoryMailer();
  const own = await start({ LOGIN_BY_CODE: 'on' }, { mailer });
  const { person } = await ada(own);
  const auth = createAuthClient({ baseUrl: own.url, fetch: cookieFetch() });
  onTestFinished(auth.dispose);
  expect(await auth.requestCode(person.email)).toBeNull();
  const code = await mailedCode(own, mailer, person.email);
  expect((await errorOf(auth.logInWithCode('00000000'))).code).toBe('AUTH_CODE_INVALID');
  const user = await auth.logInWithCode(code);
  expect([user, auth.user]).toMatchObject([{ username: person.username }, { username: person.username }]);
});

it('requestConfirmationCode mails the code with which changeEmail and remove need no password', async () => {
  const mailer = memoryMailer();
  const own = await start({ LOGIN_BY_CODE: 'on', PASSWORDS: 'optional' }, { mailer });
  const { account, user } = await ada(own);
  const missed = (await errorOf(account.remove())).fields;
  expect(missed.map(({ field, code }) => [field, code])).toEqual(
    ['password', 'code'].map((each) => [each, 'required']),
  );
  const mailed = async () => {
    expect(await account.requestConfirmationCode()).toBeNull();
    return mailedCode(own, mailer, user.email);
  };
  const { email } = aPerson();
  expect(await account.changeEmail({ email, code: await mailed() })).toBeNull();
  expect(await messagesTo(own, user.id)).toContainEqual(expect.objectContaining({ kind: 'email-change', to: email }));
  expect((await errorOf(account.remove(undefined, '00000000'))).code).toBe('AUTH_CODE_INVALID');
  expect(await account.remove(undefined, await mailed())).toBeNull();
  expect(await own.ports.users.findById(user.id)).toBeNull();
});

describe('calls of a user, with the fetch of the AuthClient', () => {
  it('changeUsername resolves to the user with the new name', async () => {
    const { account, user } = await ada();
    const { username } = aPerson();
    expect(await account.changeUsername({ username })).toMatchObject({ id: user.id, username });
  });

  it('changeLocale resolves to the user with the new language', async () => {
    const { account, user } = await ada();
    const changed = await account.changeLocale('de-at');
    expectTypeOf(changed).toEqualTypeOf<CurrentUser>();
    expect(changed).toMatchObject({ id: user.id, locale: 'de-AT' });
  });

  it('changeEmail has a link sent to the new address, and changes nothing yet', async () => {
    const { account, person, user } = await ada();
    const { email } = aPerson();
    expect(await account.changeEmail({ email, password: person.password })).toBeNull();
    expect(await messagesTo(service, user.id)).toContainEqual(expect.objectContaining({ to: email }));
    expect(await linksOf(service, user.id)).toEqual([]);
    expect((await storedUser(user.id))?.email).toBe(user.email);
  });

  it('a wrong password is an error, and the request is not repeated', async () => {
    const { account, user, sent } = await ada();
    const wrong = 'not my password';
    expect((await errorOf(account.changeEmail({ email: user.email, password: wrong }))).code).toBe(
      'AUTH_CREDENTIALS_INVALID',
    );
    expect((await errorOf(account.remove(wrong))).code).toBe('AUTH_CREDENTIALS_INVALID');
    expect(sent).toEqual(['POST /auth/register', 'PUT /users/me/email', 'DELETE /users/me']);
  });

  it('remove removes the user', async () => {
    const { account, person, user } = await ada();
    expect(await account.remove(person.password)).toBeNull();
    expect(await storedUser(user.id)).toBeNull();
  });

  it('identities lists and unlinks the accounts at providers', async () => {
    const { account, user } = await ada();
    const { id, provider, email } = await linkIdentity(service, user);
    expect(await account.identities.list()).toMatchObject([{ id, provider, email, lastUsedAt: null }]);
    expect(await account.identities.unlink(id)).toBeNull();
    expect(await account.identities.list()).toEqual([]);
  });

  it('exported resolves to everything that is stored about the user', async () => {
    const { account, user } = await ada();
    const all = await account.exported();
    expectTypeOf(all).toEqualTypeOf<AccountExport>();
    expect(all).toMatchObject({ user: { ...user, disabledAt: null }, sessions: [{ userAgent: expect.any(String) }] });
    expect(all.events.map(({ kind }) => kind)).toEqual(['exported', 'registered']);
  });

  it('events lists what happened, page by page', async () => {
    const { account } = await ada();
    await account.changeUsername({ username: aPerson().username });
    const first = await account.events({ limit: 1 });
    expect(first.events.map(({ kind }) => kind)).toEqual(['username-changed']);
    expect(first.next).not.toBeNull();
    const rest = await account.events({ before: String(first.next) });
    expect(rest).toMatchObject({ events: [{ kind: 'registered' }], next: null });
    const all = await account.events();
    expect(all.events).toEqual([...first.events, ...rest.events]);
  });
});

describe('an error of the account client', () => {
  it('says that the service has no token, without the fetch of an AuthClient', async () => {
    expect((await errorOf(anybody().exported())).code).toBe('AUTH_TOKEN_MISSING');
  });

  it('is that of the AuthClient, if its fetch has one', async () => {
    const auth = createAuthClient({ baseUrl: 'http://127.0.0.1:1' });
    onTestFinished(auth.dispose);
    const account = createAccountClient({ baseUrl: service.url, fetch: auth.fetch });
    expect((await errorOf(account.events())).code).toBe('CLIENT_TARGET_REFUSED');
  });
});
