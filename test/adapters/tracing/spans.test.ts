import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openTelemetry, type TracingOptions } from '../../../src/adapters/tracing/open-telemetry.ts';
import {
  innerSpan,
  leafSpan,
  recordSpans,
  runInTrace,
  span,
  traceHeaders,
  traceOfRequest,
} from '../../../src/adapters/tracing/spans.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { type SentSpan, startCollector } from '../../support/servers/collector.ts';

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const header = (flags: '00' | '01' = '00') => `00-${CALLER.traceId}-${CALLER.spanId}-${flags}`;

let stop = () => Promise.resolve();
afterEach(() => stop());

/** Records spans until `sent` is called, which returns what the collector has got. */
const record = async (options: Partial<TracingOptions> = {}) => {
  const collector = await startCollector();
  const recorder = await openTelemetry({
    ...{ endpoint: collector.env.OTEL_EXPORTER_OTLP_ENDPOINT, protocol: 'http/json', ratio: 1 },
    ...{ followsCaller: false, version: '1.2.3' },
    ...{ onLost: () => undefined, onAttempt: () => undefined, ...options },
  });
  const forget = recordSpans(recorder);
  stop = async () => {
    forget();
    await recorder.close();
    stop = () => Promise.resolve();
  };
  return {
    ...collector,
    sent: async (): Promise<readonly SentSpan[]> => {
      await stop();
      return collector.spans;
    },
  };
};

const request = <Result>(traceparent: string, work: () => Promise<Result>): Promise<Result> => {
  const trace = traceOfRequest(traceparent);
  return runInTrace(trace, async () => {
    const result = await work();
    trace.span?.end();
    return result;
  });
};

describe('without a collector', () => {
  it('a request without a trace begins one, whose ids stay the same', () => {
    const [trace, other] = [traceOfRequest(''), traceOfRequest('')];
    const ids = [trace.traceId, trace.spanId];
    expect(ids.join()).toMatch(/^[\da-f]{32},[\da-f]{16}$/);
    expect([trace.traceId, trace.spanId]).toEqual(ids);
    expect([trace.traceId, trace.spanId]).not.toEqual([other.traceId, other.spanId]);
  });

  it('work runs, and the trace of its request is passed on', async () => {
    expect(await span('alone', {}, async () => traceHeaders())).toEqual({});
    const passed = await request(header('01'), () => span('hook', {}, async () => traceHeaders()));
    expect(passed).toEqual({ traceparent: header('01') });
    const { traceparent } = await request('nonsense', async () => traceHeaders());
    expect(traceparent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-02$/);
  });
});

describe('a recorded trace', () => {
  it('has spans with parents, kinds, attributes and what has failed, but no message', async () => {
    const { sent, resource } = await record();
    const failing = (error: unknown) => innerSpan('failing', {}, () => Promise.reject(error)).catch(() => undefined);
    const inside = await request(header(), () =>
      span(
        'outer',
        { 'url.scheme': 'https' },
        async (set) => {
          set({ 'http.response.status_code': 204 });
          await failing(new AppError('DB_QUERY_FAILED', { reason: 'secret' }));
          await failing(Object.assign(new Error('secret'), { code: 'ECONNREFUSED' }));
          return innerSpan('inner', {}, async () => traceHeaders());
        },
        'internal',
      ),
    );
    const [first, second, inner, outer, whole] = await sent();
    expect(whole).toMatchObject({
      name: 'HTTP',
      kind: 'server',
      ...CALLER,
      parentId: CALLER.spanId,
      spanId: expect.not.stringContaining(CALLER.spanId),
    });
    expect(outer).toMatchObject({ kind: 'internal', traceId: CALLER.traceId, parentId: whole?.spanId, isError: false });
    expect(outer?.attributes).toEqual({ 'url.scheme': 'https', 'http.response.status_code': 204 });
    expect(inner).toMatchObject({ name: 'inner', kind: 'client', parentId: outer?.spanId });
    expect(inside).toEqual({ traceparent: `00-${CALLER.traceId}-${inner?.spanId}-01` });
    expect([first, second].map((each) => [each?.isError, each?.attributes])).toEqual([
      [true, { 'error.type': 'DB_QUERY_FAILED' }],
      [true, { 'error.type': 'ECONNREFUSED' }],
    ]);
    expect(resource()).toMatchObject({ 'service.name': 'tandem', 'service.version': '1.2.3' });
  });

  it('has the steps in which nothing else begins, and work keeps its own promise', async () => {
    const { sent } = await record();
    const [answered, refused] = [Promise.resolve('row'), Promise.reject(new AppError('DB_QUERY_FAILED'))];
    await request('', async () => {
      expect(leafSpan('select users', { 'db.system.name': 'sqlite' }, () => answered)).toBe(answered);
      await expect(leafSpan('insert users', {}, () => refused, 'internal')).rejects.toThrow();
    });
    const [select, insert, whole] = await sent();
    expect(select).toMatchObject({ name: 'select users', kind: 'client', parentId: whole?.spanId, isError: false });
    expect(select?.attributes).toEqual({ 'db.system.name': 'sqlite' });
    expect(insert).toMatchObject({ name: 'insert users', kind: 'internal', parentId: whole?.spanId, isError: true });
    expect(insert?.attributes).toEqual({ 'error.type': 'DB_QUERY_FAILED' });
  });

  it('begins in the background with a step that means something, and not with others', async () => {
    const { sent } = await record();
    await innerSpan('transaction', {}, () => leafSpan('statement', {}, () => setImmediate()));
    await span('mail', {}, () => innerSpan('within', {}, setImmediate));
    const [within, mail, ...others] = await sent();
    expect(mail).toMatchObject({ name: 'mail', parentId: '' });
    expect(within).toMatchObject({ name: 'within', parentId: mail?.spanId, traceId: mail?.traceId });
    expect(others).toEqual([]);
  });
});

it.each([
  ['as the service says, whatever the caller wishes', { ratio: 1 }, '00', true],
  ['as the service says, whatever the caller wishes', { ratio: 0 }, '01', false],
  ['as the caller says, if told so', { ratio: 0, followsCaller: true }, '01', true],
  ['as the caller says, if told so', { ratio: 1, followsCaller: true }, '00', false],
] as const)('which traces are recorded %s: %j, %s', async (_what, options, flags, isRecorded) => {
  const { sent } = await record(options);
  const { traceparent } = await request(header(flags), () =>
    span('outer', {}, () => innerSpan('inner', {}, async () => traceHeaders())),
  );
  expect((await sent()).length).toBe(isRecorded ? 3 : 0);
  expect(traceparent).toMatch(new RegExp(`^00-${CALLER.traceId}-.*-${isRecorded ? '01' : '00'}$`));
});

it('a receiver that takes Protocol Buffers gets them', async () => {
  const { sent, others } = await record({ protocol: 'http/protobuf' });
  await span('work', { 'db.system.name': 'sqlite' }, async () => undefined);
  await sent();
  expect(others.map(({ type }) => type)).toEqual(['application/x-protobuf']);
  // A key and a value of Protocol Buffers are the bytes of their texts, after field and length.
  expect(others[0]?.body.toString('latin1')).toContain('\n\x0edb.system.name\x12\b\n\x06sqlite');
});

it.each([
  ['refuses', 503],
  ['hangs', null],
  ['never ends its answer', 'slowly'],
] as const)('a collector that %s costs a count of the spans, and an end that is bounded', async (_what, answer) => {
  let lost = 0;
  const errors: unknown[] = [];
  const collector = await record({
    onLost: (count) => {
      lost += count;
    },
    onAttempt: (error) => errors.push(error),
  });
  collector.answers(answer);
  // More than wait at once.
  for (let at = 0; at < 5_000; at += 1) await span('work', {}, async () => undefined);
  await collector.sent();
  await vi.waitUntil(() => lost === 5_000, 60_000);
  expect(errors).not.toContain(undefined);
  expect(collector.spans).toEqual([]);
});
