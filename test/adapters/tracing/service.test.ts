import { createServer } from 'node:http';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { aPerson, startService, type TestService } from '../../support/http/service.ts';
import { listenOnLoopback } from '../../support/listen.ts';
import { openSmtpServer } from '../../support/mail/smtp-server.ts';
import { type SentSpan, startCollector } from '../../support/servers/collector.ts';

/** The headers of the requests to the hook. */
const asked: unknown[] = [];
const hook = createServer((request, response) => {
  asked.push(request.headers.traceparent);
  response.end('{"decision":"allow"}');
});

let collector: Awaited<ReturnType<typeof startCollector>>;
let service: TestService;
beforeAll(async () => {
  const { url } = await listenOnLoopback(hook);
  collector = await startCollector();
  service = await startService({
    ...collector.env,
    METRICS: '9464',
    ...{
      BCRYPT_COST: '4',
      RATE_LIMITS: 'global=1000/60',
      MAIL_URL: `smtp://127.0.0.1:${(await openSmtpServer()).port}`,
      MAIL_FROM: 'a@example.org',
    },
    HOOK_BEFORE_REGISTER: `${url}/hook?key=s3cr3t`,
  });
});

const traceId = (of: number): string => `${of}`.padStart(32, 'a');
const caller = (of: number) => ({ traceparent: `00-${traceId(of)}-00f067aa0ba902b7-00` });

/** The spans of a trace, as soon as that of its request is there: it ends last. */
const traceOf = async (of: number): Promise<readonly SentSpan[]> => {
  await vi.waitUntil(
    () => collector.spans.some((each) => each.traceId === traceId(of) && each.kind === 'server'),
    60_000,
  );
  return collector.spans.filter((each) => each.traceId === traceId(of));
};

/** Names from the request to the span, outermost first. */
const pathOf = (span: SentSpan, trace: readonly SentSpan[]): string => {
  const parent = trace.find(({ spanId }) => spanId === span.parentId);
  return parent === undefined ? span.name : `${pathOf(parent, trace)} > ${span.name}`;
};

it('a request has spans of what it waits for, under the trace of its caller, without personal data and secrets', async () => {
  const person = aPerson();
  await service.http.post('/auth/register').set(caller(1)).send(person).expect(201);
  const trace = await traceOf(1);
  const paths = trace.map((each) => pathOf(each, trace));
  const request = 'POST /auth/register';
  expect(paths).toEqual(
    expect.arrayContaining([
      request,
      `${request} > evalsha`,
      `${request} > hook before-register > POST`,
      `${request} > hash queue > hash`,
      `${request} > transaction > insert users`,
    ]),
  );
  const attributesOf = (name: string) => trace.find((each) => each.name === name)?.attributes;
  expect(attributesOf(request)).toEqual({
    ...{ 'http.request.method': 'POST', 'http.route': '/auth/register', 'url.path': '/auth/register' },
    ...{ 'url.scheme': 'http', 'http.response.status_code': 201 },
  });
  expect(attributesOf('insert users')).toEqual({
    ...{ 'db.system.name': 'postgresql', 'db.operation.name': 'insert', 'db.collection.name': 'users' },
  });
  expect(attributesOf('evalsha')).toMatchObject({ 'db.system.name': 'redis' });
  expect(attributesOf('POST')).toMatchObject({ 'server.address': '127.0.0.1', 'http.response.status_code': 200 });
  expect(trace.find(({ name }) => name === request)?.parentId).toBe('00f067aa0ba902b7');
  const toHook = trace.find(({ name }) => name === 'POST');
  expect(asked).toEqual([`00-${traceId(1)}-${toHook?.spanId}-01`]);
  expect(JSON.stringify(collector.spans)).not.toMatch(
    new RegExp(`${person.username}|${person.email}|s3cr3t|horse`, 'i'),
  );
});

it('lines have the id of the trace', async () => {
  await service.http.post('/auth/login').set(caller(2)).send({}).expect(400);
  const lines = service.logs.filter((line) => line.traceId === traceId(2));
  expect(lines.map(({ msg }) => msg)).toContain('request answered');
  expect(service.logs.filter((line) => 'requestId' in line !== 'traceId' in line)).toEqual([]);
  const [refused] = (await traceOf(2)).filter(({ kind }) => kind === 'server');
  expect(refused).toMatchObject({
    isError: false,
    attributes: { 'tandem.error.code': 'CLIENT_PARAMS_VALIDATION_FAILED' },
  });
});

it('paths that no route has, and methods that nobody knows, make no names', async () => {
  await service.http.get('/me@example.org/?token=1').set(caller(3)).expect(404);
  await service.http.propfind('/a').set(caller(4)).expect(404);
  expect((await traceOf(3)).map(({ name }) => name)).toContain('GET');
  expect((await traceOf(4)).find(({ kind }) => kind === 'server')).toMatchObject({
    name: 'HTTP',
    attributes: { 'http.request.method': '_OTHER' },
  });
  expect(JSON.stringify(collector.spans)).not.toContain('me@example');
});

it('a mail is a trace of its own', async () => {
  const stop = new AbortController();
  const delivered = service.mail?.deliver(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await delivered;
  });
  const mail = await collector.sent('send mail');
  expect(mail).toMatchObject({ kind: 'client', parentId: '', attributes: { 'network.protocol.name': 'smtp' } });
});

it('a collector that dies under load costs no request, is counted and logged once, and gets spans again when it is back', async () => {
  const load = async (from: number) => {
    const asked = Array.from({ length: 300 }, (_, at) => service.http.get('/errors').set(caller(from + at)));
    return new Set((await Promise.all(asked)).map(({ status }) => status));
  };
  const lost = async () => Number(/^tandem_spans_lost_total (\d+)$/m.exec((await service.metrics?.text()) ?? '')?.[1]);
  const lines = () => service.logs.filter(({ msg }) => /^spans can/.test(msg));
  expect(await lost()).toBe(0);
  const during = load(1_000);
  await collector.kill();
  expect(await during).toEqual(new Set([200]));
  expect(await load(2_000)).toEqual(new Set([200]));
  await vi.waitUntil(async () => (await lost()) > 0, 60_000);
  collector = await startCollector(collector.port);
  await vi.waitUntil(async () => (await service.http.get('/errors')) && lines().length > 1, 60_000);
  expect(collector.spans).not.toEqual([]);
  expect(lines().map(({ msg }) => msg)).toEqual([
    'spans cannot be sent to OTEL_EXPORTER_OTLP_ENDPOINT, and are lost',
    'spans can be sent again',
  ]);
  expect(lines().filter((line) => 'requestId' in line)).toEqual([]);
});
