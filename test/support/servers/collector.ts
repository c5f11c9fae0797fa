import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { vi } from 'vitest';
import { listenOnLoopback } from '../listen.ts';

/** A span that the collector has received. */
export type SentSpan = {
  readonly traceId: string;
  readonly spanId: string;
  /** The id of the parent span. It is empty for the first span of a trace. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
};

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };

/** The parts of an `ExportTraceServiceRequest` in JSON that the tests read. */
type Sent = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly JsonSpan[] }[];
  }[];
};
type JsonSpan = Readonly<
  Record<'traceId' | 'spanId' | 'name' | 'startTimeUnixNano' | 'endTimeUnixNano', string> & {
    parentSpanId?: string;
    kind: number;
    attributes: readonly Attribute[];
    status: { readonly code: number };
  }
>;

const attributesOf = (attributes: readonly Attribute[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.boolValue]));

/** Converts nanoseconds since 1970, which are too large for an exact number. */
const milliseconds = (nanoseconds: string): number => Number(BigInt(nanoseconds) / 1_000n) / 1_000;

const KINDS = [undefined, 'internal', 'server', 'client'] as const;

const toSpan = ({ parentSpanId = '', kind, attributes, status, ...span }: JsonSpan): SentSpan => ({
  ...{ traceId: span.traceId, spanId: span.spanId, parentId: parentSpanId, name: span.name },
  kind: KINDS[kind] as SentSpan['kind'],
  attributes: attributesOf(attributes),
  isError: status.code === 2,
  startedAt: milliseconds(span.startTimeUnixNano),
  endedAt: milliseconds(span.endTimeUnixNano),
});

/**
 * Starts a collector for OpenTelemetry's protocol over HTTP (opentelemetry-proto, trace/v1). It parses JSON, and stores other bodies as
 * they are. @param port the port of a collector that has ended; by default a free one
 */
export const startCollector = async (port = 0) => {
  const spans: SentSpan[] = [];
  const others: { readonly type: string; readonly body: Buffer }[] = [];
  let resource: Readonly<Record<string, unknown>> = {};
  let answer: number | 'slowly' | null = 200;
  const server = createServer(async (incoming, response) => {
    const body = await buffer(incoming);
    if (answer === null) return;
    if (answer === 'slowly') {
      const drip = setInterval(() => response.write(' '), 100);
      response.once('close', () => clearInterval(drip));
      return;
    }
    const type = `${incoming.headers['content-type']}`;
    response.writeHead(answer, { 'Content-Type': type }).end();
    if (answer !== 200 || incoming.url !== '/v1/traces') return;
    if (type !== 'application/json') {
      others.push({ type, body });
      return;
    }
    for (const each of (JSON.parse(`${body}`) as Sent).resourceSpans) {
      resource = attributesOf(each.resource.attributes);
      spans.push(...each.scopeSpans.flatMap((scope) => scope.spans.map(toSpan)));
    }
  });
  const { port: bound, url, close } = await listenOnLoopback(server, port);
  return {
    port: bound,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
    spans,
    others,
    resource: () => resource,
    /** @param status the status of the next answers, `null` for no answers, or `slowly` for answers that never end */
    answers: (status: typeof answer): void => {
      answer = status;
    },
    /** Waits for the first span with a name. */
    sent: (name: string, traceId?: string): Promise<SentSpan> =>
      vi.waitFor(() => {
        const found = spans.find((each) => each.name === name && (traceId ?? each.traceId) === each.traceId);
        if (found === undefined) throw new Error(`no span ${name} among ${spans.map((each) => each.name).join(', ')}`);
        return found;
      }, 30_000),
    kill: close,
  };
};
