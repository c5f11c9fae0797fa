import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { vi } from 'vitest';

/** A span as the collector gets it. */
export type SentSpan = {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: it begins the trace. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
};

type Fields = ReadonlyMap<number, readonly (Buffer | bigint)[]>;

const varint = (bytes: Buffer, from: number): readonly [value: bigint, next: number] => {
  let value = 0n;
  for (let at = from; ; at += 1) {
    const byte = bytes[at] ?? 0;
    value |= BigInt(byte & 0x7f) << BigInt(7 * (at - from));
    if (byte < 0x80) return [value, at + 1];
  }
};

/** The fields of a message of Protocol Buffers. */
const fieldsOf = (bytes: Buffer): Fields => {
  const fields = new Map<number, (Buffer | bigint)[]>();
  for (let at = 0; at < bytes.length; ) {
    const [tag, start] = varint(bytes, at);
    const wireType = Number(tag & 7n);
    const [value, from] = wireType === 0 || wireType === 2 ? varint(bytes, start) : [0n, start];
    const end = from + (wireType === 2 ? Number(value) : ([0, 8, 0, 0, 0, 4][wireType] ?? 0));
    const number = Number(tag >> 3n);
    fields.set(number, [...(fields.get(number) ?? []), wireType === 0 ? value : bytes.subarray(from, end)]);
    at = end;
  }
  return fields;
};

const messages = (fields: Fields, number: number): Fields[] =>
  (fields.get(number) ?? []).map((each) => fieldsOf(each as Buffer));
const bytesOf = (fields: Fields, number: number) => (fields.get(number)?.[0] ?? Buffer.alloc(0)) as Buffer;

const attributesOf = (fields: Fields, number: number): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    messages(fields, number).map((each) => {
      const [value] = messages(each, 2);
      const text = value?.get(1)?.[0];
      return [`${bytesOf(each, 1)}`, text === undefined ? Number(value?.get(3)?.[0] ?? value?.get(2)?.[0]) : `${text}`];
    }),
  );

/** Nanoseconds since 1970 are more than a number holds exactly. */
const milliseconds = (fields: Fields, number: number): number =>
  Number(bytesOf(fields, number).readBigUInt64LE() / 1_000n) / 1_000;

const KINDS = [undefined, 'internal', 'server', 'client'] as const;

const toSpan = (fields: Fields): SentSpan => ({
  traceId: bytesOf(fields, 1).toString('hex'),
  spanId: bytesOf(fields, 2).toString('hex'),
  parentId: bytesOf(fields, 4).toString('hex'),
  name: `${bytesOf(fields, 5)}`,
  kind: KINDS[Number(fields.get(6)?.[0])] ?? 'internal',
  attributes: attributesOf(fields, 9),
  isError: messages(fields, 15)[0]?.get(3)?.[0] === 2n,
  startedAt: milliseconds(fields, 7),
  endedAt: milliseconds(fields, 8),
});

/**
 * A collector of OpenTelemetry's protocol over HTTP (opentelemetry-proto, trace/v1).
 * @param port that of one that is gone; by default a free one
 */
export const startCollector = async (port = 0) => {
  const spans: SentSpan[] = [];
  let resource: Readonly<Record<string, unknown>> = {};
  let answer: number | null = 200;
  const server = createServer(async (incoming, response) => {
    const body = await buffer(incoming);
    if (answer === null) return;
    response.writeHead(answer, { 'Content-Type': 'application/x-protobuf' }).end();
    if (answer !== 200 || incoming.url !== '/v1/traces') return;
    for (const each of messages(fieldsOf(body), 1)) {
      resource = attributesOf(messages(each, 1)[0] as Fields, 1);
      for (const scope of messages(each, 2)) spans.push(...messages(scope, 2).map(toSpan));
    }
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${address.port}` },
    spans,
    resource: () => resource,
    /** @param status of the next answers; `null`: there are none. */
    answers: (status: number | null): void => {
      answer = status;
    },
    /** The first span of a name, as soon as it is sent. */
    sent: (name: string, traceId?: string): Promise<SentSpan> =>
      vi.waitFor(() => {
        const found = spans.find((each) => each.name === name && (traceId ?? each.traceId) === each.traceId);
        if (found === undefined) throw new Error(`no span ${name} among ${spans.map((each) => each.name).join(', ')}`);
        return found;
      }, 30_000),
    /** Ends it with its connections. */
    kill: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
