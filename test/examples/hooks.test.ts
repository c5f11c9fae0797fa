import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { decodeJwt } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { captcha } from '../../examples/hooks/captcha.ts';
import { company } from '../../examples/hooks/company.ts';
import { crm } from '../../examples/hooks/crm.ts';
import { createReceiver } from '../../examples/hooks/receiver.ts';
import { publicHookKey } from '../../src/adapters/hooks/signing.ts';
import { privatePem } from '../../src/infrastructure/keys.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';
import { listenOnLoopback } from '../support/listen.ts';
import { DEVELOPMENT } from '../support/processes/environments.ts';
import { runService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const { start } = servicesOverOneDatabase();
const { privateKey } = generateKeyPairSync('ed25519');
const KEY = { HOOK_PRIVATE_KEY: privatePem(privateKey) };
const program = (name: string) => fileURLToPath(new URL(`../../examples/hooks/${name}`, import.meta.url));

const listening = async (server: Server) => (await listenOnLoopback(server)).url;

/** The other side of a hook. @param answer gets the request, and its body as JSON. */
const standIn = (answer: (request: IncomingMessage, body: Record<string, unknown>, response: ServerResponse) => void) =>
  listening(
    createServer(async (request, response) => {
      const text = Buffer.concat(await request.toArray()).toString();
      answer(request, text === '' ? {} : JSON.parse(text), response);
    }),
  );

/** The code of an error, or the status of a success. */
const outcomeOf = async (url: string, body: object) => {
  const response = await fetch(`${url}/auth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return ((await response.json()) as { code?: string }).code ?? response.status;
};

describe('the CAPTCHA', () => {
  it('asks Turnstile with the secret, and lets nobody register who has not solved it, or while Turnstile fails', async () => {
    const asked: unknown[] = [];
    const turnstile = await standIn((_request, body, response) => {
      asked.push(body);
      response.statusCode = body.response === 'down' ? 500 : 200;
      response.end(JSON.stringify({ success: body.response === 'solved', 'error-codes': [] }));
    });
    const service = await start({}, () => ({ hooks: { beforeRegister: captcha('s3cr3t', turnstile) } }));
    const outcomes: unknown[] = [];
    for (const extra of [{}, { captcha: 'made up' }, { captcha: 'down' }, { captcha: 'solved' }])
      outcomes.push(await outcomeOf(service.url, { ...aPerson(), extra }));
    expect(outcomes).toEqual(['AUTH_REGISTRATION_REFUSED', 'AUTH_REGISTRATION_REFUSED', 'SYS_HOOK_UNAVAILABLE', 201]);
    expect(asked).toEqual(['made up', 'down', 'solved'].map((response) => ({ secret: 's3cr3t', response })));
  });

  it('is in a program that starts', async () => {
    const directory = temporaryDirectory();
    const env = { ...DEVELOPMENT, DATA_DIR: directory.path, TURNSTILE_SECRET: 's3cr3t' };
    const { url, stop } = await runService(env, [], program('main.ts'));
    expect(await outcomeOf(url, aPerson())).toBe('AUTH_REGISTRATION_REFUSED');
    expect(await stop()).toEqual({ code: 0, signal: null });
  });
});

it('the CRM gets a contact for each account, by its id, and loses it with the account', async () => {
  const calls: unknown[] = [];
  const url = await standIn(({ method, url: path, headers }, body, response) => {
    calls.push([method, path, headers.authorization, body]);
    response.end();
  });
  const service = await start({}, () => ({ hooks: { afterCommit: crm(url, 't0ken') } }));
  const { user, person, accessToken } = await signUp(service);
  await service.http
    .delete('/users/me')
    .set('Authorization', `Bearer ${accessToken}`)
    .send({ password: person.password })
    .expect(200);
  await vi.waitFor(() => expect(calls).toHaveLength(2));
  expect(calls).toEqual([
    ['PUT', `/contacts/${user.id}`, 'Bearer t0ken', { since: expect.stringMatching(/^\d{4}-.*Z$/) }],
    ['DELETE', `/contacts/${user.id}`, 'Bearer t0ken', {}],
  ]);
});

describe('the receiver', () => {
  const decide = vi.fn(company(new Map([['example.org', 'Example']])));
  const receiver = () => listening(createReceiver([publicHookKey(privateKey)], decide));

  it('lets the employees of a company register, and says so in their tokens', async () => {
    const service = await start({ ...KEY, HOOK_BEFORE_REGISTER: await receiver() });
    const { accessToken } = await signUp(service);
    expect(decodeJwt(accessToken)).toMatchObject({ attributes: { company: 'Example' } });
    for (const email of ['a@example.com', 'a@sub.example.org', 'a@notexample.org'])
      expect(await outcomeOf(service.url, { ...aPerson(), email })).toBe('AUTH_REGISTRATION_REFUSED');
  });

  it('is a program, which accepts several keys', async () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    const keys = [other, privateKey].map(publicHookKey).join(',');
    const { url, stop } = await runService({ HOOK_PUBLIC_KEYS: keys }, [], program('receive.ts'));
    const service = await start({ ...KEY, HOOK_BEFORE_REGISTER: url });
    expect(await outcomeOf(service.url, { ...aPerson(), email: 'ada@example.com' })).toBe(201);
    expect(await stop()).toEqual({ code: 0, signal: null });
  });

  const BODY = JSON.stringify({ type: 'registration.requested', data: { email: 'ada@example.org' } });
  const now = (): number => Math.floor(Date.now() / 1_000);
  /** A request as Tandem signs it, then with other headers or another body. */
  const sent = ({ id = 'msg_1', at = now(), key = privateKey, changed = {}, body = BODY } = {}) => {
    const signature = sign(null, Buffer.from(`${id}.${at}.${BODY}`), key).toString('base64');
    const headers = { 'webhook-id': id, 'webhook-timestamp': `${at}`, 'webhook-signature': `v1a,${signature}` };
    return { method: 'POST', headers: { ...headers, ...changed }, body };
  };
  const statusOf = async (url: string, init: RequestInit) => (await fetch(url, init)).status;

  it.each([
    ['of somebody else', { key: generateKeyPairSync('ed25519').privateKey }],
    ['with another body', { body: BODY.replace('ada', 'eve') }],
    ['of two minutes ago', { at: now() - 120 }],
    ['from the future', { at: now() + 120 }],
  ])('refuses a request %s, and then accepts the real one', async (_what, changes) => {
    const url = await receiver();
    decide.mockClear();
    expect(await statusOf(url, sent(changes))).toBe(401);
    expect(decide).not.toHaveBeenCalled();
    expect(await statusOf(url, sent())).toBe(200);
  });

  it('refuses a request that it has seen, for as long as its time is accepted', async () => {
    const url = await receiver();
    const ahead = sent({ at: now() + 50 });
    expect(await statusOf(url, ahead)).toBe(200);
    expect(await statusOf(url, ahead)).toBe(401);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 100_000 });
    expect(await statusOf(url, sent({ id: 'msg_2' }))).toBe(200);
    expect(await statusOf(url, ahead)).toBe(401);
  });

  it('answers 500 or hangs up when the body is too long or the decision fails', async () => {
    const url = await receiver();
    const tooLong = fetch(url, { method: 'POST', body: 'x'.repeat(1_000_000) });
    expect([500, 'cut']).toContain(
      await tooLong.then(
        ({ status }) => status,
        () => 'cut',
      ),
    );
    decide.mockImplementationOnce(() => {
      throw new Error('no database');
    });
    expect(await statusOf(url, sent())).toBe(500);
  });
});
