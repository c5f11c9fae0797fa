// Proves ASVS 6.3.6, 6.6.2, 6.6.3; guess-3, network-8
import type { Response } from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { CODE_REFUSAL_TIME } from '../../src/adapters/http/routes/login/login-by-code.ts';
import { unsealCodes } from '../../src/application/login/asked-code.ts';
import { codeFor } from '../../src/application/login-code.ts';
import { claimMessages, messagesOf } from '../../src/application/storage/outbox.ts';
import { MINUTE } from '../support/application.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { deliver, eventsOf, mailedCode } from '../support/http/account.ts';
import { cookieAttributes, decode, servicesOverOneDatabase, signUp, tokenIn } from '../support/http/auth-http.ts';
import { aPerson, cookiePair } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const mailer = memoryMailer();
const service = await start({ LOGIN_BY_CODE: 'on', JWT_AUTHENTICATION_CLAIMS: 'true' }, () => ({ clock, mailer }));

const setCookieOf = (response: { get(header: 'Set-Cookie'): string[] | undefined }): string =>
  response.get('Set-Cookie')?.find((line) => line.startsWith('login_pending=')) ?? '';

/** @returns the cookie of the browser. @param cookie the one that it has. */
const ask = async (account: string, cookie = ''): Promise<string> =>
  cookiePair(
    setCookieOf(await service.http.post('/auth/login/code').set('Cookie', cookie).send({ account }).expect(202)),
  );

const confirm = (cookie: string, code: string, at = service) =>
  at.http.post('/auth/login/code/confirm').set('Cookie', cookie).send({ code });

const refused = async (cookie: string, code: string, at = service): Promise<void> => {
  expect((await confirm(cookie, code, at).expect(401)).body.code).toBe('AUTH_CODE_INVALID');
};

/** The codes in the mails to an address, the oldest first. */
const codesTo = async (email: string): Promise<string[]> => {
  await deliver(service);
  return mailer.mails.filter(({ to }) => to === email).flatMap(({ text }) => /^\d{8}$/m.exec(text)?.[0] ?? []);
};

/** A user whose address is verified, who has asked for a code. */
const asked = async (account: 'username' | 'email' = 'email') => {
  const { person, user, ...held } = await signUp(service);
  await service.ports.users.update(user.id, { emailVerifiedAt: clock.now(), now: clock.now() });
  const cookie = await ask(person[account]);
  const [code = ''] = await codesTo(person.email);
  const wrong = `${(Number(code) + 1) % 10 ** 8}`.padStart(8, '0');
  return { person, user, held, cookie, code, wrong };
};

const disable = ({ id }: { readonly id: string }, disabledAt: number | null) =>
  service.ports.users.update(id, { disabledAt, now: clock.now() });

/** The milliseconds for which timers were set. */
const delaysWhile = async (work: () => PromiseLike<unknown>) => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  await work();
  const delays = timers.mock.calls.map(([, delay]) => delay);
  timers.mockRestore();
  return delays;
};

describe('a code by mail', () => {
  it.each(['username', 'email'] as const)('logs the user in who asked with the %s', async (account) => {
    const { person, cookie, code } = await asked(account);
    const response = await confirm(cookie, `${code.slice(0, 4)} ${code.slice(4)}`).expect(200);
    expect(response.body.data.user).toMatchObject({ username: person.username });
    expect(decode(response.body.data.accessToken).claims).toMatchObject({ amr: ['mca'], acr: 'aal1' });
    expect(cookieAttributes(setCookieOf(response))).toMatchObject({ 'Max-Age': '0' });
    await service.http.post('/auth/login').send({ account: person.email, password: person.password }).expect(200);
  });

  it('is not in the log, nor in the store', async () => {
    const { code, user, cookie } = await asked();
    await confirm(cookie, code).expect(200);
    expect(JSON.stringify(service.logs)).not.toContain(code);
    expect(JSON.stringify(await messagesOf(service.ports.records, user.id))).not.toContain(code);
    expect((await eventsOf(service, user.id)).map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['login-code-requested', 'logged-in']),
    );
  });

  it('is refused after a time that does not depend on the account', async () => {
    const { cookie, wrong } = await asked();
    expect(await delaysWhile(() => refused(cookie, wrong))).toContain(CODE_REFUSAL_TIME);
  });

  it('has five guesses, at all instances together', async () => {
    const { cookie, code, wrong } = await asked();
    const other = await start({ LOGIN_BY_CODE: 'on' }, () => ({ clock, mailer, secrets: service.ports.secrets }));
    const guesses = Array.from({ length: 5 }, (_, at) => refused(cookie, wrong, at % 2 === 0 ? service : other));
    await Promise.all(guesses);
    await refused(cookie, code);
  });

  it('keeps its guesses when the browser asks again, in however many ways', async () => {
    const { person, cookie, code, wrong } = await asked();
    clock.advance(MINUTE);
    for (let fork = 0; fork < 5; fork += 1) await refused(await ask(person.email, cookie), wrong);
    await refused(await ask(person.email, cookie), code);
  });

  it('is good for ten minutes', async () => {
    const { cookie, code } = await asked();
    clock.advance(10 * MINUTE - 1);
    await confirm(cookie, code).expect(200);
    const late = await asked();
    clock.advance(10 * MINUTE);
    await refused(late.cookie, late.code);
  });

  it('is good in the browser alone that has asked for it', async () => {
    const { person, code, cookie } = await asked();
    const stranger = await ask(person.email);
    for (const other of ['', stranger, await ask(aPerson().email), `${cookie.slice(0, -4)}AAAA`, 'login_pending=x'])
      await refused(other, code);
    await confirm(cookie, code).expect(200);
  });

  it('is mailed once a minute, by whichever name of the account, and the browser keeps the one on its way', async () => {
    const { person, cookie, code, wrong } = await asked();
    clock.advance(MINUTE - 1);
    const again = await ask(person.username.toUpperCase(), await ask(person.email, cookie));
    expect(await codesTo(person.email)).toEqual([code]);
    await refused(again, wrong);
    let held = again;
    for (let time = 0; time < 4; time += 1) held = await ask(person.email, held);
    await confirm(held, code).expect(200);
  });

  it('of another account stays good, too', async () => {
    const [first, second] = [await asked(), await asked('username')];
    const both = await ask(second.person.username, first.cookie);
    expect((await confirm(both, first.code).expect(200)).body.data.user.username).toBe(first.person.username);
    await refused(both, first.code);
  });

  it('is kept in a cookie that does not grow, however many names are asked for', async () => {
    let cookie = '';
    for (let at = 0; at < 9; at += 1) cookie = await ask(`${at}${'a'.repeat(240)}@example.org`, cookie);
    expect(cookie.length).toBeLessThan(2_000);
  });

  it.each([0, 1])('stays good when the browser asks again, until one of the two is used: %i', async (which) => {
    const { person, cookie: first } = await asked();
    clock.advance(MINUTE);
    const cookie = await ask(person.email, first);
    const codes = await codesTo(person.email);
    expect(codes).toHaveLength(2);
    await confirm(cookie, codes[which] ?? '').expect(200);
    for (const code of codes) await refused(cookie, code);
  });

  it('that was never mailed cannot be guessed', async () => {
    const { person, user } = await asked();
    const cookie = await ask(person.email);
    await codesTo(person.email);
    const pending = unsealCodes(service.ports, [tokenIn(cookie)], 'login-code') ?? expect.unreachable();
    const owner = (await service.ports.users.findById(user.id)) ?? expect.unreachable();
    await refused(cookie, codeFor(service.ports, pending[0], owner));
  });

  it('is not good any more after a change of the address, also in a browser that has asked with the username', async () => {
    const { user, cookie, code } = await asked('username');
    await service.ports.users.update(user.id, { email: aPerson().email, now: clock.now() });
    await refused(cookie, code);
  });
});

describe('the answer to a request for a code', () => {
  it('is the same for every account: known, unknown or disabled', async () => {
    const [known, disabled] = [await signUp(service), await signUp(service)];
    await disable(disabled.user, clock.now());
    const unknown = aPerson();
    const cookies = [];
    for (const { email } of [known.person, disabled.person, unknown]) {
      const response = await service.http.post('/auth/login/code').send({ account: email.padStart(30, 'x') });
      expect([response.status, response.body.data]).toEqual([202, null]);
      cookies.push(setCookieOf(response));
      const cookie = await ask(email);
      await refused(cookie, '12345678');
    }
    expect(new Set(cookies.map(({ length }) => length)).size).toBe(1);
    expect(cookieAttributes(cookies[0])).toMatchObject({ HttpOnly: true, Path: '/auth', 'Max-Age': '600' });
    expect(await codesTo(known.person.email)).toHaveLength(1);
    for (const { email } of [disabled.person, unknown]) expect(await codesTo(email)).toEqual([]);
  });

  it('keeps nothing of what cannot be an account', async () => {
    for (const account of ['my secret password!', '\0', 'ü@example.org', 'x'.repeat(254)]) await ask(account);
    expect(await claimMessages(service.ports.records, { now: clock.now(), until: clock.now(), limit: 10 })).toEqual([]);
  });

  it('is 404 without LOGIN_BY_CODE', async () => {
    const without = await start({}, () => ({ clock, mailer }));
    await without.http.post('/auth/login/code').send({ account: 'ada' }).expect(404);
    await without.http.post('/auth/login/code/confirm').send({ code: '12345678' }).expect(404);
  });
});

describe('the user of a code', () => {
  it('need not have verified the address before, where that is required', async () => {
    const strict = await start({ LOGIN_BY_CODE: 'on', EMAIL_VERIFICATION: 'required' }, () => ({
      clock,
      mailer,
      secrets: service.ports.secrets,
    }));
    const person = aPerson();
    await strict.http.post('/auth/register').send(person).expect(202);
    const cookie = await ask(person.email);
    await confirm(cookie, (await codesTo(person.email)).at(-1) ?? '', strict).expect(200);
  });
});

it('a code by mail finishes the log-in on a new device, and the next one needs none', async () => {
  const wary = await start({ NEW_DEVICE_CODE: 'on', JWT_AUTHENTICATION_CLAIMS: 'true' }, () => ({ clock, mailer }));
  const { user, person } = await signUp(wary);
  const { username: account, email, password } = person;
  await wary.ports.users.update(user.id, { emailVerifiedAt: clock.now(), now: clock.now() });
  const cookieIn = (response: Response, name: string) =>
    response.get('Set-Cookie')?.find((line) => line.startsWith(`${name}=`));
  const logIn = (cookie = '') => wary.http.post('/auth/login').set('Cookie', cookie).send({ account, password });
  const waiting = await logIn().expect(401);
  expect(waiting.body.code).toBe('AUTH_SECOND_FACTOR_REQUIRED');
  expect(cookieAttributes(cookieIn(waiting, 'login_pending'))).toMatchObject({ 'Max-Age': '600' });
  const cookie = cookiePair(cookieIn(waiting, 'login_pending'));
  const { data } = (await wary.http.get('/auth/login/pending').set('Cookie', cookie).expect(200)).body;
  expect(data).toMatchObject({ methods: ['mail-code'], enrol: false, passkey: null });
  const mailCode = await mailedCode(wary, mailer, email);
  const finish = (body: object) => wary.http.post('/auth/login/second-factor').set('Cookie', cookie).send(body);
  await finish({ code: '123456' }).expect(401);
  const wrong = `${(Number(mailCode) + 1) % 10 ** 8}`.padStart(8, '0');
  expect(await delaysWhile(() => finish({ mailCode: wrong }).expect(401))).toContain(CODE_REFUSAL_TIME);
  const finished = await finish({ mailCode }).expect(200);
  expect(decode(finished.body.data.accessToken).claims).toMatchObject({ amr: ['pwd', 'mca'], acr: 'aal1' });
  expect(JSON.stringify(wary.logs)).not.toContain(mailCode);
  await logIn(cookiePair(cookieIn(finished, 'remembered_device'))).expect(200);
});
