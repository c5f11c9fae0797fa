import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Response } from 'supertest';
import { expect } from 'vitest';
import type { LinkPurpose } from '../../../src/domain/link.ts';
import { codeAt } from '../authenticator-app.ts';
import type { FixedClock } from '../fixed-clock.ts';
import { deliver } from '../http/account.ts';
import { ADOPTION_KEY } from '../http/all-routes.ts';
import { decode } from '../http/auth-http.ts';
import { ask } from '../http/back-office.ts';
import { aPerson, cookiePair, refreshCookieOf, type TestService } from '../http/service.ts';
import type { memoryMailer } from '../mail/memory-mailer.ts';
import { type TestProvider, walkToCallback } from '../oidc/provider.ts';

const ORIGIN = 'https://auth.example.org';
const STEP = 30_000;

export type Parts = {
  readonly service: TestService;
  readonly clock: FixedClock;
  readonly mailer: ReturnType<typeof memoryMailer>;
  readonly provider: TestProvider;
};

/** The account of a person at the provider. */
export type Person = { readonly sub: string; readonly email: string; readonly email_verified: boolean };

const cookiesOf = (response: Response): string =>
  [response.headers['set-cookie'] ?? []]
    .flat()
    .map((line) => cookiePair(line))
    .join('; ');

/** Registers an account over HTTP. It has an owner, who holds the first session, and a stranger, who knows the password. */
export const ownedAccount = async (parts: Parts, { isProven }: { readonly isProven: boolean }) => {
  const { service, clock, mailer, provider } = parts;
  const { http } = service;
  const person = aPerson();
  const registered = await http.post('/auth/register').set('User-Agent', 'the owner').send(person).expect(201);
  const id: string = registered.body.data.user.id;
  if (isProven) await service.ports.users.update(id, { emailVerifiedAt: clock.now(), now: clock.now() });
  const account = {
    id,
    /** The mailbox of the owner. `other` is that of the stranger. */
    mailbox: person.email,
    other: aPerson().email,
    /** The current address of the account. */
    email: person.email,
    password: person.password,
    isProven,
    accessToken: registered.body.data.accessToken as string,
    cookie: cookiePair(refreshCookieOf(registered)),
    /** The secrets of the authenticator apps, the latest last. */
    secrets: [] as string[],
  };
  const hold = (response: Response) => {
    account.accessToken = response.body.data?.accessToken ?? account.accessToken;
    account.cookie = cookiePair(refreshCookieOf(response)) || account.cookie;
    return response;
  };
  const me = (method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string, body?: object) => {
    const request = http[method](path).set({ Authorization: `Bearer ${account.accessToken}`, Cookie: account.cookie });
    return body === undefined ? request : request.send(body);
  };
  const mailsTo = async (to: string) => {
    clock.advance(10);
    await deliver(service);
    return mailer.mails.filter((mail) => mail.to === to);
  };
  const tokenIn = async (to: string, purpose: LinkPurpose | 'invitation'): Promise<string> => {
    const texts = (await mailsTo(to)).map(({ text }) => text);
    const tokens = texts.map((text) => new RegExp(`/${purpose}#token=([\\w-]+)`).exec(text)?.[1]);
    return tokens.findLast((token) => token !== undefined) ?? expect.unreachable(`no mail to ${to} has ${purpose}`);
  };
  const codeIn = async (to: string): Promise<string> =>
    (await mailsTo(to)).flatMap(({ text }) => /^\d{8}$/m.exec(text) ?? []).at(-1) ?? 'none is mailed';
  const confirmLink = (path: string, token: string, more = {}) => http.post(path).send({ token, ...more });
  /** Requests a mail with a link, without a session, after the time between two such mails. @returns the token in the mail */
  const askForLink = async (ask: 'password-reset' | 'email-verification', purpose: LinkPurpose = ask) => {
    clock.advance(6 * 60_000);
    await http.post(`/auth/${ask}`).send({ email: account.email }).expect(202);
    return tokenIn(account.email, purpose);
  };
  /** Requests a change of the address. @returns the token in the mail to the new address */
  const askForAddress = async (email: string) => {
    await me('put', '/users/me/email', { email, password: account.password }).expect(202);
    return tokenIn(email, 'email-change');
  };
  /** Whether a log-in has succeeded, or needs only a second factor. */
  const isIn = ({ status, body }: Response) => status === 200 || body.code === 'AUTH_SECOND_FACTOR_REQUIRED';
  const showFactor = (cookie: string, factor: object) =>
    http.post('/auth/login/second-factor').set('Cookie', cookie).send(factor);
  /** Presents a code of the newest app if the log-in needs a second factor. */
  const finished = async (response: Response, userAgent = 'the owner'): Promise<Response> => {
    if (response.body.code !== 'AUTH_SECOND_FACTOR_REQUIRED') return response;
    clock.advance(STEP);
    const code = codeAt(account.secrets.at(-1) ?? expect.unreachable('an app is asked for'), clock.now());
    return showFactor(cookiesOf(response), { code }).set('User-Agent', userAgent);
  };
  const logIn = (password = account.password, userAgent = 'the stranger') =>
    http.post('/auth/login').set('User-Agent', userAgent).send({ account: account.email, password });
  const askForCode = async (kept = '') => {
    clock.advance(61_000);
    const asked = cookiesOf(await http.post('/auth/login/code').send({ account: person.username }).expect(202));
    const cookie = `${asked}; ${kept}`;
    const code = await codeIn(account.email);
    return () =>
      http.post('/auth/login/code/confirm').set({ Cookie: cookie, 'User-Agent': 'the owner' }).send({ code });
  };
  const begin = async (who: Person, path = '/auth/oidc/acme') => {
    provider.switches.account = who;
    const started = await me('post', path, { to: ORIGIN, errorTo: `${ORIGIN}/error` }).expect(200);
    return { started, cookie: cookiesOf(started) };
  };
  /** Goes to the provider and back to the callback. @returns the answer of the callback */
  const cameBack = async ({ started, cookie }: Awaited<ReturnType<typeof begin>>, who: Person): Promise<Response> => {
    provider.switches.account = who;
    const { pathname, search } = await walkToCallback(started.body.data.url);
    return http.get(pathname + search).set({ Cookie: cookie, 'Sec-Fetch-Site': 'cross-site', Accept: 'text/html' });
  };
  /** Logs the owner in with a mailed code. @returns whether that works */
  const enter = async (): Promise<boolean> => {
    const response = hold(await finished(await (await askForCode())()));
    return response.status === 200;
  };
  return {
    ...parts,
    account,
    hold,
    /** The text of the last mail to the owner's first address whose subject contains `subject`. */
    lastMail: async (subject: string) =>
      (await mailsTo(person.email)).findLast((mail) => mail.subject.includes(subject))?.text,
    me,
    tokenIn,
    codeIn,
    confirmLink,
    askForLink,
    askForAddress,
    changeAddress: async (email: string) => {
      const token = await askForAddress(email);
      const confirming = confirmLink('/auth/email-change/confirm', token);
      hold(await confirming.set('Authorization', `Bearer ${account.accessToken}`).expect(200));
      account.email = email;
    },
    isIn,
    showFactor,
    finished,
    askForCode,
    begin,
    cameBack,
    cookiesOf,
    office: (method: 'get' | 'post' | 'put' | 'delete', path: string, body?: object) =>
      ask(service, method, path, body),
    logIn,
    enter,
    /** Sets a new password and logs the owner in, if the current password no longer works. */
    choosePassword: async () => {
      if ((await logIn(account.password, 'the owner')).status === 200) return;
      const token = await askForLink('password-reset');
      account.password = 'the next battery of the owner';
      await confirmLink('/auth/password-reset/confirm', token, { newPassword: account.password }).expect(200);
      await enter();
    },
    adopt: async () => {
      const iat = Math.floor(clock.now() / 1_000);
      const assertion = await new SignJWT({ aud: ORIGIN, sub: id, jti: randomUUID(), iat, exp: iat + 60 })
        .setProtectedHeader({ typ: 'adoption+jwt', alg: 'ES256' })
        .sign(ADOPTION_KEY.privateKey);
      return http.post('/auth/adopt').send({ assertion });
    },
    /** Whether the answer of a callback logs in to this account, or needs only a second factor. */
    opens: async (response: Response): Promise<boolean> => {
      const error = new URL(response.get('Location') ?? ORIGIN, ORIGIN).searchParams.get('error');
      if (error === 'AUTH_SECOND_FACTOR_REQUIRED') return true;
      const cookie = cookiePair(refreshCookieOf(response));
      if (error !== null || cookie === '') return false;
      const { body } = await http.post('/auth/refresh-token').set('Cookie', cookie).expect(200);
      return decode(body.data.accessToken).claims.sub === id;
    },
  };
};

export type OwnedAccount = Awaited<ReturnType<typeof ownedAccount>>;
