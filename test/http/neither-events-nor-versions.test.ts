// Proves SPEC 18.1, 25.5, 25.6
import { request as send } from 'node:http';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../src/adapters/http/routing/define-route.ts';
import { VERSION } from '../../src/infrastructure/version.ts';
import { samplePath } from '../support/http/samples.ts';
import { declaredRoutes, startService, type TestService } from '../support/http/service.ts';

const routes = await declaredRoutes();
const titled = routes.map((route) => [`${route.method} ${route.path}`, route] as const);

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const ask = ({ method, ...route }: Route, prefix = '') =>
  service.http[method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete'](
    prefix + samplePath({ method, ...route }),
  );

/** Status and code of a response. */
const outcomeOf = ({ status, body }: Response) => [status, body.code];

describe.each(titled)('%s', (_title, route) => {
  it('is not an event stream', async () => {
    const response = await ask(route).set('Accept', 'text/event-stream');
    expect(String(response.headers['content-type'])).not.toMatch(/event-stream/);
    // A length that is known from the start: 0 for a redirection.
    expect(response.headers['content-length']).toMatch(/^\d+$/);
  });

  it('does not accept an upgrade to WebSocket', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
      send(`${service.url}${samplePath(route)}`, { method: route.method, headers })
        .once('upgrade', (_answer, socket) => {
          socket.destroy();
          resolve(101);
        })
        .once('response', (response) => resolve(response.resume().statusCode))
        .once('error', reject)
        .end();
    });
    expect(status).toBe((await ask(route)).status);
  });

  it('has no version in its path', async () => {
    expect(route.path).not.toMatch(/\/v\d/);
    for (const prefix of ['/v1', `/v${VERSION}`, '/api/v1']) {
      expect(outcomeOf(await ask(route, prefix))).toEqual([404, 'SYS_HTTP_UNEXPECTED_ERROR']);
    }
  });

  it('ignores a version in a header', async () => {
    const plain = outcomeOf(await ask(route));
    for (const headers of [
      { 'Accept-Version': '99' },
      { 'X-API-Version': '99' },
      { Accept: 'application/vnd.tandem.v99+json' },
    ]) {
      expect(outcomeOf(await ask(route).set(headers))).toEqual(plain);
    }
  });
});
