import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAccount } from '../../src/application/accounts/operate-accounts.ts';
import { NO_ORIGIN } from '../../src/domain/event.ts';
import { UNKNOWN_PASSWORD } from '../../src/domain/password.ts';
import { privatePem } from '../../src/infrastructure/keys.ts';
import { decode, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';

const { start } = servicesOverOneDatabase();
const { privateKey } = generateKeyPairSync('ed25519');

type Asked = { readonly headers: IncomingHttpHeaders; readonly body: string };

/** A former system, and a user of it who was imported without a hash. @param answer to a password; a status if it is a number. */
const setUp = async (answer: (password: string) => object | number, more: Readonly<Record<string, string>> = {}) => {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    asked.push({ headers: request.headers, body });
    const given = answer(JSON.parse(body).data.password);
    response.writeHead(typeof given === 'number' ? given : 200).end(JSON.stringify(given));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?key=s3cr3t`;
  const env = { VERIFY_PASSWORDS_AT: url, HOOK_PRIVATE_KEY: privatePem(privateKey) };
  const service = await start({ ...env, ...more });
  const { user, person, accessToken } = await signUp(service);
  const { users } = service.ports;
  const forgotten = { passwordHash: UNKNOWN_PASSWORD, isOfNewPassword: false, now: Date.now() };
  await users.setPasswordHash(user.id, forgotten);
  return {
    ...{ service, asked, user, accessToken },
    logIn: (password: string) => service.http.post('/auth/login').send({ account: person.email, password }),
    hash: async () => (await users.findById(user.id))?.passwordHash,
  };
};

const isOld = (password: string) => ({ valid: password === 'old password' });

it('nobody asks the former system about a user whom an operator has created', async () => {
  const { service, asked } = await setUp(isOld);
  const { ports } = service;
  const given = { username: null, attributes: {}, locale: null, isProven: true, sendsLink: false };
  const { email } = await createAccount(ports)({ ...given, email: 'created@example.org' }, NO_ORIGIN);
  await service.http.post('/auth/login').send({ account: email, password: 'old password' }).expect(401);
  expect(asked).toEqual([]);
});

describe('a user who was imported without a hash', () => {
  it('logs in with the password of the former system, which is asked once, in a signed request', async () => {
    const { user, asked, logIn, hash, service } = await setUp(isOld);
    const { body } = await logIn('old password').expect(200);
    expect(body.data.user.id).toBe(user.id);
    expect(await hash()).toMatch(/^\$2b\$/);
    await logIn('old password').expect(200);
    await logIn('another one').expect(401);
    const [{ headers, body: sent }] = asked as [Asked];
    expect(asked).toHaveLength(1);
    const { id, username, email } = user;
    const data = { id, username, email, password: 'old password' };
    expect(JSON.parse(sent)).toMatchObject({ type: 'password.presented', data });
    const signed = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${sent}`);
    const signature = Buffer.from(`${headers['webhook-signature']}`.replace('v1a,', ''), 'base64');
    expect(verify(null, signed, createPublicKey(privateKey), signature)).toBe(true);
    expect(JSON.stringify(service.logs)).not.toMatch(/old password|s3cr3t/);
  });

  it('is refused with a wrong one, as anybody is, and guesses are counted before the former system is asked', async () => {
    const { asked, logIn, hash, service } = await setUp(isOld);
    const unknown = await service.http.post('/auth/login').send({ account: 'nobody', password: 'x' }).expect(401);
    const codeAndMessage = ({ code, message }: { code: string; message: string }) => ({ code, message });
    for (let guess = 0; guess < 50; guess += 1) {
      const { body } = await logIn(`guess ${guess}`).expect(401);
      expect(codeAndMessage(body)).toEqual(codeAndMessage(unknown.body));
    }
    await logIn('old password').expect(429);
    expect(asked).toHaveLength(50);
    expect(await hash()).toBe(UNKNOWN_PASSWORD);
  });

  it.each([
    ['fails', 500],
    ['redirects', 302],
    ['answers something else', { valid: 'true' }],
    ['answers more', { valid: true, admin: true }],
    ['answers as another hook', { decision: 'allow' }],
  ])('does not log in while the former system %s, and learns that soon', async (_what, answer) => {
    const { logIn, hash } = await setUp(() => answer);
    const response = await logIn('old password').expect(503);
    expect([response.body.code, response.get('Retry-After')]).toEqual(['SYS_HOOK_UNAVAILABLE', '5']);
    expect(await hash()).toBe(UNKNOWN_PASSWORD);
  });

  it('is guessed no more often while the former system fails, which may be for wrong passwords alone', async () => {
    const { asked, logIn } = await setUp((password) => (password === 'old password' ? { valid: true } : 500));
    for (let guess = 0; guess < 50; guess += 1) await logIn(`guess ${guess}`).expect(503);
    await logIn('old password').expect(429);
    expect(asked).toHaveLength(50);
  });

  it('has no password once the time is over, and without a former system', async () => {
    for (const env of [{ VERIFY_PASSWORDS_UNTIL: '2026-01-31' }, { VERIFY_PASSWORDS_AT: '' }]) {
      const { asked, logIn } = await setUp(isOld, env);
      expect((await logIn('old password').expect(401)).body.code).toBe('AUTH_CREDENTIALS_INVALID');
      expect((await logIn(UNKNOWN_PASSWORD).expect(401)).body.code).toBe('AUTH_CREDENTIALS_INVALID');
      expect(asked).toEqual([]);
    }
  });

  it('confirms changes with it, too, for instance in an adopted session', async () => {
    const { service, accessToken, user } = await setUp(isOld);
    const send = (password: string) =>
      service.http.post('/auth/step-up').set('Authorization', `Bearer ${accessToken}`).send({ password });
    await send('wrong').expect(401);
    const { body } = await send('old password').expect(200);
    expect(decode(body.data.accessToken).claims.sub).toBe(user.id);
  });

  it('keeps logging in with a password that is too long to be stored, until it is changed', async () => {
    const long = 'x'.repeat(73);
    const { asked, logIn, hash } = await setUp((password) => ({ valid: password === long }));
    await logIn(long).expect(200);
    await logIn(long).expect(200);
    expect([asked.length, await hash()]).toEqual([2, UNKNOWN_PASSWORD]);
  });
});
