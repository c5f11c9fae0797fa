import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bcryptPasswordHasher } from '../../src/adapters/crypto/bcrypt.ts';
import { ALL_ROUTES } from '../support/http/all-routes.ts';
import { brokenRules } from '../support/http/answer-rules.ts';
import { signUp } from '../support/http/auth-http.ts';
import { keepAliveClient } from '../support/http/exchange.ts';
import { FOUND, malformedRequest } from '../support/http/malformed.ts';
import { exchangeText, parseAnswers } from '../support/http/raw-http.ts';
import { type Credentials, type GeneratedRequest, requestsTo } from '../support/http/requests.ts';
import { sampleBody } from '../support/http/samples.ts';
import { aPerson, declaredRoutes, startService, type TestService } from '../support/http/service.ts';
import { brief, holds } from '../support/properties/properties.ts';
import { openTestStorage, type TestStorage } from '../support/storage/storage.ts';

/*
 * Requests generated from the declarations of the routes, and bytes that are not HTTP. Each run prints the seeds of its properties;
 * `FC_SEED=<seed> vitest run test/properties/requests.test.ts` repeats it.
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
    const hasher = bcryptPasswordHasher({ cost: 4 });
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
    process.off('unhandledRejection', notice);
    expect(unhandled).toEqual([]);
  });

  it('gets a well-formed response', async () => {
    const { send, close } = keepAliveClient(service.url, CONNECTIONS);
    const clientOf = (number: number) => clients[number % clients.length] ?? expect.unreachable();
    const statuses = new Map<number, number>();
    const requests = fc.array(requestsTo(routes, clientOf), { minLength: BATCH, maxLength: BATCH });
    const property = fc.asyncProperty(requests, async (batch) => {
      const broken = await Promise.all(
        batch.map(async (each) => {
          const answer = await send(each);
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          const rules = brokenRules(answer, each.method, routes);
          return rules.length === 0
            ? []
            : [{ rules, asked: { ...each, body: Buffer.from(each.body).toString() }, answer }];
        }),
      );
      expect(broken.flat(), brief(broken.flat())).toEqual([]);
    });
    const examples: [GeneratedRequest[]][] = [
      [Array(CONNECTIONS * 2).fill(HEAD_REFUSED)],
      [Array(2).fill(registration())],
    ];
    await holds(property, { numRuns: BATCHES, endOnFailure: true, examples }).finally(close);
    expect([...statuses.keys()]).toEqual(expect.arrayContaining(STATUSES));
    expect(service.logs.filter(({ level }) => level === 'fatal')).toEqual([]);
  }, 600_000);

  it('gets a well-formed response or none, if its bytes are not HTTP', async () => {
    await holds(
      fc.asyncProperty(malformedRequest, async ({ bytes, method }) => {
        const text = await exchangeText(service.url, bytes, { endAfter: true });
        // No response if the connection was closed without a request; several if valid requests came first.
        const [first, ...others] = parseAnswers(text, method);
        if (first !== undefined) expect(brokenRules(first, method, routes), brief(first)).toEqual([]);
        for (const other of others) {
          expect(brokenRules(other, other.body === '' ? 'HEAD' : '', routes), brief(other)).toEqual([]);
        }
      }),
      { numRuns: 400, examples: FOUND.map((each) => [each]) },
    );
    expect((await service.http.get('/health/live')).status).toBe(200);
  });
});
