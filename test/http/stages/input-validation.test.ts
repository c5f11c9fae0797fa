// Proves SPEC 6.11, 12.19, 12.20, 12.21, 12.22, 20.3, 20.18, 21.5, 24.6; ASVS 3.5.2, 8.2.3, 16.3.3; flood-3, flood-4
import { Agent, request as send } from 'node:http';
import { deflateSync, gzipSync } from 'node:zlib';
import * as v from 'valibot';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exchangeRaw, head } from '../../support/http/raw-http.ts';
import { probe, stageApp } from '../../support/http/stage-app.ts';

const Body = v.object({
  name: v.pipe(v.string(), v.minLength(3), v.maxLength(5)),
  tags: v.optional(v.array(v.string())),
  address: v.optional(v.object({ city: v.string() })),
});
const Query = v.strictObject({ page: v.optional(v.pipe(v.string(), v.regex(/^\d+$/, 'must be a number'))) });
const Params = v.object({ id: v.pipe(v.string(), v.regex(/^\d+$/, 'must be a number')) });

const post = probe(({ body, query, params }) => ({ body, query, params }), {
  name: 'post',
  method: 'POST',
  path: '/items/:id',
  request: { body: Body, query: Query, params: Params },
});
/** Accepts any JSON object, to test the body parser alone. */
const any = probe(({ body }) => body, {
  name: 'any',
  method: 'POST',
  path: '/any',
  request: { body: v.looseObject({}) },
});
/** Its body is optional. */
const optional = probe(({ body }) => body ?? null, {
  name: 'optional',
  method: 'POST',
  path: '/optional',
  request: { body: v.optional(Body) },
});
const bodiless = probe(({ body }) => body ?? null, { name: 'bodiless', method: 'POST', path: '/bodiless' });
const start = () => stageApp([post, any, optional, bodiless]);

const VALID = { name: 'ada' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const MALFORMED = [{ field: 'body', message: 'must be a JSON object in UTF-8', code: 'malformed' }];

it('the output of the schemas is all that the handler receives', async () => {
  const { http } = await start();
  const { body } = await http
    .post('/items/7?page=2')
    .send({ ...VALID, extra: 1, address: { city: 'Turin', extra: 2 } })
    .expect(200);
  expect(body.data).toEqual({
    body: { name: 'ada', address: { city: 'Turin' } },
    query: { page: '2' },
    params: { id: '7' },
  });
});

describe('problems', () => {
  it('of params, query and body are reported together', async () => {
    const { http } = await start();
    const { body } = await http
      .post('/items/x?page=y')
      .send({ name: 'ab', tags: ['a', 2, 'c', null], address: {} })
      .expect(400);
    expect(body).toMatchObject({ success: false, code: 'CLIENT_PARAMS_VALIDATION_FAILED' });
    expect(body.details).toHaveLength(6);
    expect(body.details).toEqual(
      expect.arrayContaining([
        { field: 'id', message: 'must be a number', code: 'invalid_format' },
        { field: 'page', message: 'must be a number', code: 'invalid_format' },
        { field: 'name', message: 'must have at least 3 characters', code: 'too_short' },
        { field: 'tags.1', message: 'has the wrong type', code: 'invalid_type' },
        { field: 'tags.3', message: 'has the wrong type', code: 'invalid_type' },
        { field: 'address.city', message: 'is required', code: 'required' },
      ]),
    );
  });

  it.each([
    [{}, 'name', 'required'],
    [{ name: null }, 'name', 'invalid_type'],
    [{ name: 123 }, 'name', 'invalid_type'],
    [{ name: ['ada'] }, 'name', 'invalid_type'],
    [{ name: 'ab' }, 'name', 'too_short'],
    [{ name: 'abcdef' }, 'name', 'too_long'],
    [{ ...VALID, tags: 'a' }, 'tags', 'invalid_type'],
    [{ ...VALID, address: 'Turin' }, 'address', 'invalid_type'],
  ])('of %j are reported with field and code: %s, %s', async (sent, field, code) => {
    const { body } = await (await start()).http.post('/items/7').send(sent).expect(400);
    const message = expect.stringMatching(code.startsWith('too_') ? /\d/ : /./);
    expect(body.details).toEqual([{ field, message, code }]);
  });

  it('include a repeated query parameter', async () => {
    const { body } = await (await start()).http.post('/items/7?page=1&page=2').send(VALID).expect(400);
    expect(body.details).toEqual([{ field: 'page', message: 'has the wrong type', code: 'invalid_type' }]);
  });

  it.each([
    ['/bodiless?pages=1', 'pages', 'a route without parameters'],
    ['/items/7?Page=1', 'Page', 'another letter case'],
    ['/items/7?page=1&pages=1', 'pages', 'next to a known one'],
    ['/items/7?%70ages=1', 'pages', 'percent-encoded'],
    ['/items/7?pages', 'pages', 'without a value'],
    ['/items/7?pages=1&pages=2', 'pages', 'repeated'],
    ['/items/7?constructor=1', 'constructor', 'a name that objects have'],
    ['/items/7?__proto__=1', '__proto__', 'the name of a prototype'],
    ['/items/7?page[]=1', 'page[]', 'another way to write an array'],
    ['/items/7?=1', 'query', 'one without a name'],
    ['/items/7?&&&&&&&&&&&&&&&&&&&&&&&&&pages=1', 'pages', 'one behind many empty ones'],
  ])('include an unknown query parameter: %s', async (path, field) => {
    const { body } = await (await start()).http.post(path).send(VALID).expect(400);
    expect(body.code).toBe('CLIENT_PARAMS_VALIDATION_FAILED');
    expect(body.details).toEqual([{ field, message: 'is unknown', code: 'unknown' }]);
  });

  it.each([
    ['broken percent-encoding', '/items/7?%E0%A4%A=1'],
    ['percent-encoding in Latin-1', '/items/7?page=%E4'],
    ['an unfinished character', '/items/7?page=%E2%82'],
    ['half a surrogate pair', '/items/7?page=%ED%A0%80'],
  ])('include a query that is not UTF-8: %s', async (_what, path) => {
    const { body } = await (await start()).http.post(path).send(VALID).expect(400);
    expect(body.details).toEqual([{ field: 'query', message: 'must be percent-encoded UTF-8', code: 'malformed' }]);
  });

  it('are not even looked for when a query has bytes that are not percent-encoded', async () => {
    const { url } = await start();
    const text = head('POST /bodiless?page=\u00e4', { Connection: 'close' });
    expect((await exchangeRaw(url, Buffer.from(text, 'latin1'))).status).toBe(400);
  });

  it.each(['/bodiless', '/bodiless?', '/bodiless?&', '/bodiless?&&&&&&&&&&&&&&&&&&&&&&'])(
    'are none for a query without parameters: %s',
    async (path) => {
      await (await start()).http.post(path).expect(200);
    },
  );

  it.each([
    ['names', Array.from({ length: 2_000 }, (_, at) => `a${at}`).join('&')],
    ['times one name', 'page=1&'.repeat(2_000)],
    ['times one unknown name', 'a&'.repeat(7_000)],
    ['a long name', 'a'.repeat(15_000)],
    ['a long name of many bytes', '%F0%9F%94%91'.repeat(1_200)],
  ])('of a query are limited in number and length, however long it is: %s', async (_what, query) => {
    const { body, text } = await (await start()).http.post(`/items/7?${query}`).send(VALID).expect(400);
    expect(body.details).toHaveLength(1);
    expect(text.length).toBeLessThan(1_000);
  });

  it('do not contain the input', async () => {
    const { http, logs } = await start();
    const { text } = await http
      .post('/items/7')
      .send({ name: { secret: 'hunter22' } })
      .expect(400);
    expect(text + JSON.stringify(logs)).not.toMatch(/hunter22|secret/);
  });

  it('stop the request before its handler, and are logged at info', async () => {
    const { http, logs } = await start();
    await http.post('/items/7').send({}).expect(400);
    expect(logs.find(({ code }) => code === 'CLIENT_PARAMS_VALIDATION_FAILED')).toMatchObject({ level: 'info' });
    expect(logs.filter(({ level }) => !['info', 'debug'].includes(level))).toEqual([]);
  });
});

describe('a body that is not a JSON object', () => {
  it.each([
    '{',
    '{"name":"ada"}}',
    "{'name':'ada'}",
    'name=ada',
    'null',
    '1',
    '"ada"',
    ' ',
    '\0',
    '{"name":"a\u0000"}',
    '{"__proto__":{"name":"ada"}}',
    '{"name":"ada","tags":[],"x":{"__proto__":{}}}',
  ])('is malformed: %j', async (text) => {
    const { http } = await start();
    const { body } = await http.post('/items/7').set(JSON_TYPE).send(text).expect(400);
    expect(body).toMatchObject({ code: 'CLIENT_PARAMS_VALIDATION_FAILED', details: MALFORMED });
  });

  it.each<[string, Record<string, string>, string]>([
    ['no body', {}, ''],
    ['no body, with a type', JSON_TYPE, ''],
    ['Content-Length 0', { 'Content-Length': '0' }, ''],
    ['Content-Length 0 and a type', { ...JSON_TYPE, 'Content-Length': '0' }, ''],
    ['empty chunks', { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' }, '0\r\n\r\n'],
    ['not in its encoding', { ...JSON_TYPE, 'Content-Encoding': 'gzip', 'Content-Length': '14' }, '{"name":"ada"}'],
  ])('is malformed when there is none: %s', async (_what, headers, text) => {
    const { url } = await start();
    for (const path of ['/items/7', '/any']) {
      const response = await exchangeRaw(url, head(`POST ${path}`, { ...headers, Connection: 'close' }) + text);
      expect(response.status).toBe(400);
      expect(JSON.parse(response.body).details).toEqual(MALFORMED);
    }
  });

  it.each([
    ['Latin-1', Buffer.from('{"name":"k\u00e4se"}', 'latin1')],
    ['a byte in a word', Buffer.from('7b226e616d65223a226bff227d', 'hex')],
    ['an unfinished character', Buffer.from('7b226e616d65223a22e282227d', 'hex')],
    ['an overlong character', Buffer.from('7b226e616d65223a22c0af227d', 'hex')],
    ['half a surrogate pair', Buffer.from('7b226e616d65223a22eda080227d', 'hex')],
    ['UTF-16', Buffer.from('\ufeff{"name":"ada"}', 'utf16le')],
  ])('is malformed when it is not UTF-8: %s', async (_what, bytes) => {
    const { url } = await start();
    for (const [encoding, sent] of [
      ['identity', bytes],
      ['gzip', gzipSync(bytes)],
    ] as const) {
      const headers = { ...JSON_TYPE, 'Content-Encoding': encoding, 'Content-Length': `${sent.length}` };
      const request = head('POST /any', { ...headers, Connection: 'close' });
      const response = await exchangeRaw(url, Buffer.concat([Buffer.from(request), sent]));
      expect(response.status).toBe(400);
      expect(JSON.parse(response.body).details).toEqual(MALFORMED);
    }
  });

  it('may begin with a byte order mark (RFC 8259 §8.1), and have U+FFFD in it', async () => {
    const { http } = await start();
    const { body } = await http.post('/any').set(JSON_TYPE).send('\ufeff{"name":"\ufffd"}').expect(200);
    expect(body.data).toEqual({ name: '\ufffd' });
  });
});

describe('a body that is optional', () => {
  it.each<[string, Record<string, string>, string]>([
    ['none', {}, ''],
    ['none, with a type', JSON_TYPE, ''],
    ['null, which axios sends', JSON_TYPE, 'null'],
    ['null between blanks', JSON_TYPE, ' null\n'],
    ['one of another type', { 'Content-Type': 'text/plain' }, 'ada'],
  ])('may be missing: %s', async (_what, headers, sent) => {
    const { http } = await start();
    expect((await http.post('/optional').set(headers).send(sent).expect(200)).body.data).toBeNull();
  });

  it.each(['false', '0', '""', '[]', '{', 'nul'])('may not be %s', async (sent) => {
    const { body } = await (await start()).http.post('/optional').set(JSON_TYPE).send(sent).expect(400);
    expect(body.details).toEqual(MALFORMED);
  });
});

describe('the type of a body', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;Charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; charset=UTF8',
  ])('may be %s', async (type) => {
    const { http } = await start();
    const { body } = await http.post('/any').set('Content-Type', type).send('{"name":"äöü 🔑"}').expect(200);
    expect(body.data).toEqual({ name: 'äöü 🔑' });
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    '*/*',
  ])('may not be %s: 415', async (type) => {
    const { http } = await start();
    const { body } = await http.post('/items/7').set('Content-Type', type).send('{"name":"ada"}').expect(415);
    expect(body).toMatchObject({ success: false, code: 'SYS_HTTP_UNEXPECTED_ERROR', details: null });
  });

  it.each(['iso-8859-1', 'utf-16', 'windows-1252', 'utf-7', '"utf-16le"'])(
    'may have no other charset: %s, 415',
    async (charset) => {
      const { http } = await start();
      for (const path of ['/items/7', '/optional'])
        await http
          .post(path)
          .set('Content-Type', `application/json; charset=${charset}`)
          .send('{"name":"ada"}')
          .expect(415);
    },
  );

  it('may not be missing: 415', async () => {
    const { url } = await start();
    const request = head('POST /items/7', { 'Content-Length': '14', Connection: 'close' });
    expect((await exchangeRaw(url, `${request}{"name":"ada"}`)).status).toBe(415);
  });
});

describe('the encoding of a body', () => {
  it.each([
    ['gzip', gzipSync],
    ['GZip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['Deflate', deflateSync],
    ['identity', Buffer.from],
    ['Identity', Buffer.from],
  ] as const)('may be %s', async (encoding, compress) => {
    const { url } = await start();
    const bytes = compress(JSON.stringify(VALID));
    const headers = { ...JSON_TYPE, 'Content-Encoding': encoding, 'Content-Length': `${bytes.length}` };
    const request = head('POST /any', { ...headers, Connection: 'close' });
    const response = await exchangeRaw(url, Buffer.concat([Buffer.from(request), bytes]));
    expect(response.status).toBe(200);
    expect(JSON.parse(response.body).data).toEqual(VALID);
  });

  it.each(['br', 'zstd', 'gzip, gzip', 'none'])('may not be %s: 415 (RFC 9110 §15.5.16)', async (encoding) => {
    const { http } = await start();
    const { body, headers } = await http.post('/any').set('Content-Encoding', encoding).send(VALID).expect(415);
    expect(headers['accept-encoding']).toBe('gzip, deflate');
    expect(body.code).toBe('SYS_HTTP_UNEXPECTED_ERROR');
  });
});

const LIMIT = 16 * 1024;
/** A JSON object of `length` bytes. */
const ofLength = (length: number): string => `{"name":"${'a'.repeat(length - 11)}"}`;

describe('the size of a body', () => {
  it.each([LIMIT + 1, 1_000_000])('may be 16 KiB, and not %i bytes: 413', async (length) => {
    const { http } = await start();
    expect(Buffer.byteLength(ofLength(LIMIT))).toBe(LIMIT);
    await http.post('/any').set(JSON_TYPE).send(ofLength(LIMIT)).expect(200);
    const { body } = await http.post('/any').set(JSON_TYPE).send(ofLength(length)).expect(413);
    expect(body).toMatchObject({ success: false, code: 'SYS_HTTP_UNEXPECTED_ERROR', details: null });
  });

  it('is checked by Content-Length before the body arrives', async () => {
    const { url } = await start();
    const headers = { ...JSON_TYPE, 'Content-Length': `${LIMIT + 1}`, Connection: 'close' };
    expect((await exchangeRaw(url, head('POST /any', headers))).status).toBe(413);
  });

  it('is limited after decompression', async () => {
    const { url } = await start();
    const bomb = gzipSync(ofLength(50_000_000));
    const headers = { ...JSON_TYPE, 'Content-Encoding': 'gzip', 'Content-Length': `${bomb.length}` };
    const request = head('POST /any', { ...headers, Connection: 'close' });
    const response = await exchangeRaw(url, Buffer.concat([Buffer.from(request), bomb]));
    expect(response.status).toBe(413);
    expect(JSON.parse(response.body).code).toBe('SYS_HTTP_UNEXPECTED_ERROR');
  });

  it('that is too large leaves the connection usable', async () => {
    const { url } = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const statusOf = (path: string, text: string, headers: Record<string, string> = JSON_TYPE) =>
      new Promise<number | undefined>((resolve, reject) => {
        send(url + path, { method: 'POST', agent, headers }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode));
        })
          .once('error', reject)
          .end(text);
      });
    expect(await statusOf('/any', ofLength(1_000_000))).toBe(413);
    expect(await statusOf('/any', JSON.stringify(VALID))).toBe(200);
    const chunked = { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' };
    expect(await statusOf('/any', ofLength(1_000_000), chunked)).toBe(413);
    expect(await statusOf('/any', JSON.stringify(VALID))).toBe(200);
  });
});

it.each([
  ['JSON', 'application/json', '{"name":"ada"}'],
  ['malformed JSON', 'application/json', '{'],
  ['text', 'text/plain', 'a text'],
  ['a large body', 'application/octet-stream', 'a'.repeat(1_000_000)],
])('a route without a schema for the body ignores %s', async (_what, type, text) => {
  const { http } = await start();
  const { body } = await http.post('/bodiless').set('Content-Type', type).send(text).expect(200);
  expect(body.data).toBeNull();
});
