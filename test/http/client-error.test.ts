// Proves SPEC 1.9, 19.1; ASVS 3.4.4, 16.4.1; network-5
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { MAX_HEADERS } from '../../src/infrastructure/http-server/connection.ts';
import {
  exchangeRaw,
  head,
  openSocket,
  parseAnswer,
  parseAnswers,
  type RawAnswer,
  readToEnd,
} from '../support/http/raw-http.ts';
import { probe, stageApp, ULID, upload } from '../support/http/stage-app.ts';

const routes = [probe(() => 'payload')];

const expectEnvelope = ({ headers, body }: RawAnswer, message: string) => {
  expect(JSON.parse(body)).toEqual({
    success: false,
    code: 'SYS_HTTP_UNEXPECTED_ERROR',
    message: `The request could not be served: ${message}.`,
    type: 'https://auth.example.org/errors/SYS_HTTP_UNEXPECTED_ERROR',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    context: { requestId: expect.stringMatching(ULID), version: '1.2.3' },
    details: null,
  });
  expect(headers['svc-request-id']).toBe(JSON.parse(body).context.requestId);
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
    'strict-transport-security': expect.stringContaining('max-age='),
    'x-frame-options': 'DENY',
    connection: 'close',
  });
};

describe('an unreadable request', () => {
  it.each([
    ['garbage', 'GARBAGE\r\n\r\n'],
    ['bytes of another protocol', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000'],
    ['another version of HTTP', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
    ['no version of HTTP', 'GET /probe\r\n\r\n'],
    ['HTTP/2 in the form of HTTP/1.1', 'GET /probe HTTP/2.0\r\nHost: a\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['a request without a Host', 'GET /probe HTTP/1.1\r\n\r\n'],
    ['a request with two Hosts', 'GET /probe HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
    ['two Hosts in HTTP/1.0', 'GET /probe HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['a malformed Host', 'GET /probe HTTP/1.1\r\nHost: a/b\r\n\r\n'],
    ['a CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a length and chunks', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ])('gets 400 in the envelope: %s', async (_what, bytes) => {
    const { url, logs } = await stageApp(routes);
    const response = await exchangeRaw(url, Buffer.from(bytes, 'latin1'));
    expect(response.status).toBe(400);
    expectEnvelope(response, 'Bad Request');
    expect(logs).toEqual([expect.objectContaining({ level: 'info', msg: 'unreadable request', status: 400 })]);
  });

  it('is logged without its content', async () => {
    const { url, logs } = await stageApp(routes);
    await exchangeRaw(url, 'GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer hunter22\r\nhunter22\r\n\r\n');
    expect(logs).toHaveLength(1);
    expect(JSON.stringify(logs)).not.toContain('hunter22');
  });

  it('is counted in the metrics by the status of its response', async () => {
    const seen: number[] = [];
    const { url } = await stageApp(routes, { onUnreadable: (status) => seen.push(status) });
    await exchangeRaw(url, 'GARBAGE\r\n\r\n');
    await exchangeRaw(url, 'GARBAGE\r\n\r\n');
    expect(seen).toEqual([400, 400]);
  });

  it('is ignored when the client has closed the connection', async () => {
    const seen: number[] = [];
    const { url, http, logs } = await stageApp(routes, { onUnreadable: (status) => seen.push(status) });
    for (const begun of ['GET / HTT', '']) {
      const socket = openSocket(url);
      await new Promise<void>((resolve) => socket.write(begun, () => resolve()));
      socket.resetAndDestroy();
      await http.get('/probe').expect(200);
    }
    expect(logs.filter(({ level }) => ['warn', 'error', 'fatal'].includes(level))).toEqual([]);
    expect(seen).toEqual([]);
  });

  it('has its connection closed, even if the client keeps it open', async () => {
    const { url } = await stageApp(routes);
    const socket = openSocket(url);
    const text = readToEnd(socket);
    socket.write('GARBAGE\r\n\r\n');
    expect(parseAnswer(await text).status).toBe(400);
    expect(socket.writable).toBe(true);
    const cutOff = () => (socket.writable && socket.write('more')) || socket.destroyed;
    await expect.poll(() => cutOff() && socket.destroyed).toBe(true);
  });
});

/** Sends bytes, keeps the connection open, and reads until the service closes it. */
const readUntilClosed = async (url: string, bytes: string): Promise<string> => {
  const socket = openSocket(url);
  const text = readToEnd(socket);
  socket.write(Buffer.from(bytes, 'latin1'));
  return text;
};

describe('the response to a HEAD that is refused', () => {
  it.each([
    ['without a Host', 'HEAD /probe HTTP/1.1\r\n\r\n'],
    ['with two Hosts', 'HEAD /probe HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['with a malformed header', 'HEAD /probe HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n'],
    ['with two lengths', 'HEAD /probe HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['with a non-ASCII byte in its target', 'HEAD /\x89 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['after empty lines', '\r\n\r\nHEAD /\x89 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['with malformed chunks', `${head('HEAD /probe', { 'Transfer-Encoding': 'chunked' })}zz\r\n`],
    ['with the fault after 10 KB of headers', `HEAD /probe HTTP/1.1\r\nX: ${'a'.repeat(10_000)}\r\nnonsense\r\n\r\n`],
  ])('has no body, %s', async (_what, bytes) => {
    const { url } = await stageApp(routes);
    const [first, ...others] = (await readUntilClosed(url, bytes)).split('\r\n\r\n');
    expect(first).toMatch(/^HTTP\/1\.1 400 /);
    expect(first).toMatch(/^Connection: close$/m);
    expect(others).toEqual(['']);
  });

  it('has no body after other requests, whose responses have theirs', async () => {
    const { url } = await stageApp([...routes, upload()]);
    const body = '{"HEAD ":1}';
    const post = `${head('POST /upload', { 'Content-Type': 'application/json', 'Content-Length': '11' })}${body}`;
    const text = await readUntilClosed(
      url,
      `${head('GET /probe')}${post}${head('GET /probe')}HEAD /\x89 HTTP/1.1\r\n\r\n`,
    );
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([200, 200, 200, 400].map((status) => `HTTP/1.1 ${status}`));
    expect(text.endsWith('\r\n\r\n')).toBe(true);
  });

  it.each([
    ['a body', head('POST /probe', { 'Content-Length': '10' }), '0123456789'],
    ['a body that contains empty lines', head('POST /probe', { 'Content-Length': '10' }), '01\r\n\r\n\r\n\r\n'],
    ['chunks', head('POST /probe', { 'Transfer-Encoding': 'chunked' }), '2\r\n\r\n\r\n0\r\n\r\n'],
    ['chunks with a trailer', head('POST /probe', { 'Transfer-Encoding': 'chunked' }), '0\r\nA: b\r\n\r\n'],
  ])('has no body when the HEAD arrives in one packet with the end of %s', async (_what, before, body) => {
    const { url } = await stageApp(routes);
    const text = await readUntilClosed(url, `${before}${body}HEAD /\x89 HTTP/1.1\r\n\r\n`);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 405', 'HTTP/1.1 400']);
    expect(text.endsWith('\r\n\r\n')).toBe(true);
  });
});

describe('an error response on a connection with other requests', () => {
  const GARBAGE = 'GARBAGE\r\n\r\n';
  const statuses = (text: string) => parseAnswers(text).map(({ status }) => status);

  /** An application with a route that responds after `release`. */
  const pendingRoute = async () => {
    const asked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const route = probe(async () => {
      asked.resolve();
      await release.promise;
      return 'payload';
    });
    const app = await stageApp([route, upload()]);
    return { ...app, asked: asked.promise, release: () => release.resolve() };
  };

  it.each([
    ['to an unreadable request', GARBAGE],
    ['to a CONNECT', head('CONNECT a:1')],
    ['to a request without a Host', 'GET /probe HTTP/1.1\r\n\r\n'],
    [
      'to a malformed body',
      `${head('POST /upload', { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' })}zz\r\n`,
    ],
  ])('is sent after the responses to the requests before: %s', async (_what, bytes) => {
    const { url, asked, release, http } = await pendingRoute();
    const socket = openSocket(url);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    const end = once(socket, 'end');
    socket.write(`${head('GET /probe')}${bytes}`);
    await asked;
    await http.get('/nowhere').expect(404);
    expect(text).toBe('');
    release();
    await end;
    expect(statuses(text)).toEqual([200, 400]);
  });

  it('is sent once, whatever the client sends after it', async () => {
    const { url } = await stageApp(routes);
    expect(statuses(await readUntilClosed(url, GARBAGE.repeat(1_000)))).toEqual([400]);
  });

  it('is not sent for the body of a request that already has its response', async () => {
    const { url } = await stageApp([...routes, upload()]);
    const late = `${head('GET /probe', { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' })}`;
    const socket = openSocket(url);
    const text = readToEnd(socket);
    socket.write(late);
    await once(socket, 'data');
    socket.write('zz\r\n');
    expect(statuses(await text)).toEqual([200]);
  });

  it('leaves the requests after it unprocessed', async () => {
    let done = 0;
    const { url } = await stageApp([
      probe(() => {
        done += 1;
        return 'payload';
      }),
    ]);
    const text = await readUntilClosed(url, `GET /probe HTTP/1.1\r\n\r\n${head('GET /probe').repeat(3)}`);
    expect(statuses(text)).toEqual([400]);
    expect(done).toBe(0);
  });
});

describe('a request with too many headers', () => {
  it('gets 431 in the envelope when their number exceeds the maximum', async () => {
    const { url } = await stageApp(routes);
    const response = await exchangeRaw(url, `GET /probe HTTP/1.1\r\nHost: a\r\n${'X: a\r\n'.repeat(MAX_HEADERS)}\r\n`);
    expect(response.status).toBe(431);
    expectEnvelope(response, 'Request Header Fields Too Large');
  });

  it('gets 431 in the envelope when their size exceeds the maximum', async () => {
    const { url } = await stageApp(routes);
    const response = await exchangeRaw(url, head('GET /probe', { 'X-Long': 'a'.repeat(20_000) }));
    expect(response.status).toBe(431);
    expectEnvelope(response, 'Request Header Fields Too Large');
  });
});

describe('a request to upgrade to another protocol', () => {
  const UPGRADE = { Connection: 'Upgrade', Upgrade: 'h2c' };

  it.each([
    ['without a body', head('GET /probe', UPGRADE)],
    ['with a body', `${head('GET /probe', { ...UPGRADE, 'Content-Length': '2' })}{}`],
  ])('is answered in HTTP/1.1, and is the last of its connection: %s', async (_what, request) => {
    const { url } = await stageApp([...routes, upload()]);
    const responses = parseAnswers(await readUntilClosed(url, `${request}${head('GET /probe', {})}`));
    expect(responses).toEqual([expect.objectContaining({ status: 200 })]);
    expect(responses[0]?.headers.connection).toBe('close');
  });
});

it('a request with long chunk extensions gets 413 in the envelope', async () => {
  const { url } = await stageApp([upload()]);
  const chunked = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
  const response = await exchangeRaw(url, `${head('POST /upload', chunked)}2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`);
  expect(response.status).toBe(413);
  expectEnvelope(response, 'Payload Too Large');
});

it('a chunked request in HTTP/1.0 closes its connection', async () => {
  const { url } = await stageApp([upload()]);
  const request = [
    'POST /upload HTTP/1.0',
    'Connection: keep-alive',
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
    '',
    '2\r\n{}\r\n0\r\n\r\n',
  ].join('\r\n');
  const responses = parseAnswers(await readUntilClosed(url, request.repeat(2)));
  expect(responses).toEqual([expect.objectContaining({ status: 200 })]);
  expect(responses[0]?.headers.connection).toBe('close');
});

describe('a request that does not arrive in time', () => {
  const JSON_OF_10 = { 'Content-Type': 'application/json', 'Content-Length': '10' };

  it.each([
    ['its headers', 'GET /probe HTTP/1.1\r\nHost: a\r\n'],
    ['its body', `${head('POST /upload', JSON_OF_10)}{`],
  ])('gets 408 in the envelope: %s', async (_what, bytes) => {
    const { url, logs } = await stageApp([...routes, upload()], {}, 200);
    const response = await exchangeRaw(url, bytes);
    expect(response.status).toBe(408);
    expectEnvelope(response, 'Request Timeout');
    expect(logs).toContainEqual(expect.objectContaining({ level: 'info', msg: 'unreadable request', status: 408 }));
    expect(logs.filter(({ level }) => ['warn', 'error', 'fatal'].includes(level))).toEqual([]);
  });
});
