// Proves network-6
import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALL_ROUTES } from '../../support/http/all-routes.ts';
import { signUp } from '../../support/http/auth-http.ts';
import { exchangeText, parseAnswers } from '../../support/http/raw-http.ts';
import { sampleBody } from '../../support/http/samples.ts';
import { aPerson, declaredRoutes, hasher, startService, type TestService } from '../../support/http/service.ts';
import { brief, holds } from '../../support/properties/properties.ts';
import { openTestStorage, type TestStorage } from '../../support/storage/storage.ts';
import { type Credentials, type GeneratedRequest, requestsTo } from './generated.ts';
import { FOUND, malformedRequest } from './malformed.ts';

/*
 * Requests generated from the declarations of the routes, and bytes that are not HTTP. The service under test compares every response with
 * the OpenAPI document. Each run prints the seeds of its properties; `FC_SEED=<seed> vitest run test/properties/requests` repeats it.
 */

const BATCHES = 60;
const BATCH = 50;
const CONNECTIONS = 16;
const CLIENTS = 40;
/** The statuses that such requests get, each many times. */
const STATUSES = [200, 201, 204, 400, 401, 403, 404, 405, 409, 413, 415];

/** Found by a random seed: a refusal of HEAD had a body, which the client took for the next response. */
const HEAD_REFUSED: GeneratedRequest = { method: 'HEAD', path: '/\x89', headers: {}, body: new Uint8Array() };

/** Sent twice: random registrations are rarely valid, and more rarely those of a name that is taken. */
const registration = (): GeneratedRequest => ({
  method: 'POST',
  path: '/auth/register',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(aPerson())),
});

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

const INTERNALS = /\n\s+at |node_modules|\/src\/|\bselect .* from\b|insert into|postgres|\.ts:\d/i;

const PROTECTIVE = [
  'content-security-policy',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options',
];

/** @returns what is wrong with any response, besides what the OpenAPI document says. */
const faultsOf = ({ status, headers, body }: Answer): string[] => [
  ...(status >= 200 && status < 500 ? [] : ['a fault of the service']),
  ...PROTECTIVE.filter((name) => headers[name] === undefined).map((name) => `no ${name}`),
  ...(INTERNALS.test(body) ? ['internal details'] : []),
];

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

/** Sends one request, again when the server has just closed the kept connection. */
const send = async (url: string, given: GeneratedRequest): Promise<Answer> => {
  const { hostname: host, port } = new URL(url);
  const { method, path, body } = given;
  const headers = { ...given.headers, ...(body.length > 0 && { 'content-length': body.length }) };
  const outgoing = request({ agent, host, port, method, path, headers });
  outgoing.on('error', () => undefined);
  outgoing.end(body);
  try {
    const [incoming]: IncomingMessage[] = await once(outgoing, 'response');
    if (incoming === undefined) throw new Error('no response');
    return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: await text(incoming) };
  } catch (error) {
    if (outgoing.reusedSocket) return send(url, given);
    throw error;
  }
};

const routes = await declaredRoutes();

describe('any request', () => {
  let database: TestStorage;
  let service: TestService;
  const clients: Credentials[] = [];
  const unhandled: unknown[] = [];
  const notice = (reason: unknown) => void unhandled.push(reason);

  beforeAll(async () => {
    process.on('unhandledRejection', notice);
    database = await openTestStorage();
    const env = { ...ALL_ROUTES, ALLOWED_ORIGINS_DEV: 'https://app.example.com', TRUST_PROXY: '1' };
    service = await startService(env, { storage: database.storage, hasher });
    for (const route of routes.filter(({ name }) => name === 'register')) {
      await service.http.post(route.path).send(sampleBody(route)).expect(201);
    }
    while (clients.length < CLIENTS) clients.push(await signUp(service));
  });
  afterAll(async () => {
    await service?.close();
    await database?.close();
    agent.destroy();
    process.off('unhandledRejection', notice);
    expect(unhandled).toEqual([]);
  });

  it('gets a well-formed response', async () => {
    const statuses = new Set<number>();
    const requests = fc.array(requestsTo(routes, clients), { minLength: BATCH, maxLength: BATCH });
    const property = fc.asyncProperty(requests, async (batch) => {
      const answers = await Promise.all(batch.map(async (asked) => ({ asked, ...(await send(service.url, asked)) })));
      for (const { status } of answers) statuses.add(status);
      const broken = answers.filter((answer) => faultsOf(answer).length > 0);
      expect(broken, brief(broken)).toEqual([]);
    });
    const examples: [GeneratedRequest[]][] = [
      [Array(CONNECTIONS * 2).fill(HEAD_REFUSED)],
      [Array(2).fill(registration())],
    ];
    await holds(property, { numRuns: BATCHES, endOnFailure: true, examples });
    expect([...statuses]).toEqual(expect.arrayContaining(STATUSES));
    expect(service.logs.filter(({ level }) => level === 'fatal')).toEqual([]);
  }, 600_000);

  it('gets a well-formed response or none, if its bytes are not HTTP', async () => {
    await holds(
      fc.asyncProperty(malformedRequest, async ({ bytes, method }) => {
        const text = await exchangeText(service.url, bytes, { endAfter: true });
        // No response if the connection was closed without a request; several if valid requests came first.
        for (const answer of parseAnswers(text, method)) expect(faultsOf(answer), brief(answer)).toEqual([]);
      }),
      { numRuns: 400, examples: FOUND.map((each) => [each]) },
    );
    expect((await service.http.get('/health/live')).status).toBe(200);
  });
});
