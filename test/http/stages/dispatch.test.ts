// Proves SPEC 1.9, 20.18, 21.8
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { exchangeRaw, head } from '../../support/http/raw-http.ts';
import { probe, stageApp, ULID } from '../../support/http/stage-app.ts';

const read = probe(() => 'read', { name: 'read', path: '/things' });
const create = probe(() => 'created', { name: 'create', method: 'POST', path: '/things' });
const remove = probe(() => 'removed', { name: 'remove', method: 'DELETE', path: '/things' });
const one = probe(({ params }) => Object(params).name, {
  name: 'one',
  path: '/things/:name',
  request: { params: v.object({ name: v.string() }) },
});
const asked = probe(() => 'asked', { name: 'asked', path: '/asked', request: { query: v.unknown() } });
const start = () => stageApp([read, create, remove, one, asked]);

describe('a request', () => {
  it.each([
    ['get', 'read'],
    ['post', 'created'],
    ['delete', 'removed'],
  ] as const)('is dispatched to the route of its path and method: %s', async (method, data) => {
    const { body } = await (await start()).http[method]('/things').expect(200);
    expect(body.data).toBe(data);
  });

  it('with HEAD uses the route of GET, and gets its headers only', async () => {
    const { http, logs } = await start();
    const get = await http.get('/things').expect(200);
    const response = await http.head('/things').expect(200);
    expect(response.text).toBeUndefined();
    expect(response.headers['content-type']).toBe(get.headers['content-type']);
    expect(Number(response.headers['content-length'])).toBe(Number(get.headers['content-length']));
    expect(logs.at(-1)).toMatchObject({ method: 'HEAD', route: 'read', status: 200 });
  });

  it('finds its route whatever the query', async () => {
    const { body } = await (await start()).http.get('/asked?a=/b&%E0%A4%A').expect(200);
    expect(body.data).toBe('asked');
  });
});

it.each([
  ['percent-decoded', 'a%20b%2Fc', 'a b/c'],
  ['with non-ASCII characters', '%F0%9F%94%91', '🔑'],
  ['unchanged when its percent-encoding is malformed', '%E0%A4%A', '%E0%A4%A'],
  ['unchanged when its percent-encoding is incomplete', '100%', '100%'],
  ['with the name __proto__', '__proto__', '__proto__'],
])('a path parameter is passed to the handler %s', async (_what, written, name) => {
  const { url } = await start();
  const response = await exchangeRaw(url, head(`GET /things/${written}`, { Connection: 'close' }));
  expect(response.status).toBe(200);
  expect(JSON.parse(response.body).data).toBe(name);
});

describe('an unknown path', () => {
  it.each([
    '/nowhere',
    '/',
    '/thing',
    '/things/',
    '/things/a/b',
    `/nowhere?${'a&'.repeat(7_000)}`,
    '/%E0%A4%A',
    '//things',
    '/things%2Fa/b',
    `/${'a'.repeat(8_000)}`,
    // These are no URLs.
    'http://[',
    '//a@:[',
    '/\\\\@[#',
  ])('gets 404 in the envelope: %.20s', async (path) => {
    const { url, logs } = await start();
    const response = await exchangeRaw(url, head(`GET ${path}`, { Connection: 'close' }));
    expect(response.status).toBe(404);
    expect(JSON.parse(response.body)).toMatchObject({
      success: false,
      code: 'SYS_HTTP_UNEXPECTED_ERROR',
      message: expect.stringContaining('Not Found'),
      context: { requestId: expect.stringMatching(ULID) },
      details: null,
    });
    expect(logs.filter(({ level }) => level === 'fatal')).toEqual([]);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'PROPFIND', 'TRACE'])('gets 404 with %s too', async (method) => {
    const { url } = await start();
    const response = await exchangeRaw(url, head(`${method} /nowhere`, { Connection: 'close' }));
    expect(response.status).toBe(404);
    expect(response.headers).not.toHaveProperty('allow');
  });
});

describe('a known path with another method', () => {
  it.each(['PUT', 'PATCH', 'PROPFIND', 'TRACE'])(
    'gets 405 for %s, and a list of all allowed methods',
    async (method) => {
      const { url } = await start();
      const response = await exchangeRaw(url, head(`${method} /things`, { Connection: 'close' }));
      expect(response.status).toBe(405);
      expect(new Set(response.headers.allow?.split(', '))).toEqual(
        new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']),
      );
      expect(JSON.parse(response.body)).toMatchObject({ code: 'SYS_HTTP_UNEXPECTED_ERROR', details: null });
    },
  );

  it('accepts any query with OPTIONS', async () => {
    await (await start()).http.options('/things?a=1').expect(204);
  });

  it('lists only the methods of its own path', async () => {
    const response = await (await start()).http.post('/things/a').expect(405);
    expect(new Set(response.headers.allow?.split(', '))).toEqual(new Set(['GET', 'HEAD', 'OPTIONS']));
  });
});
