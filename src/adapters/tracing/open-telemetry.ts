import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { random } from '../clock/system.ts';
import { withResponseTimeout, withTimeout } from '../limits/time-limits.ts';
import { SAMPLED, type SpanRecorder } from './spans.ts';

export type TracingOptions = {
  /** The URL of an OTLP collector, without a trailing slash. */
  readonly endpoint: string;
  readonly protocol: keyof typeof EXPORTERS;
  /** Of the traces that no caller decides about, the part that is recorded, from 0 to 1. */
  readonly ratio: number;
  /** Whether the `traceparent` of a request decides whether its trace is recorded. */
  readonly followsCaller: boolean;
  readonly version: string;
  /** Called with the number of spans that the collector did not accept, or that exceeded `MAX_WAITING`. */
  readonly onLost: (count: number) => void;
  /** Called after each attempt to send spans. @param error why it has failed; absent after a success */
  readonly onAttempt: (error?: unknown) => void;
};

/** The exporter for each value of OTEL_EXPORTER_OTLP_PROTOCOL. Protocol Buffers take twice the processor time of JSON (ADR 0032). */
const EXPORTERS = {
  'http/json': () => import('@opentelemetry/exporter-trace-otlp-http'),
  'http/protobuf': () => import('@opentelemetry/exporter-trace-otlp-proto'),
} as const;

const SPAN_KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/** Spans that may wait to be sent. Each takes about two kilobytes. */
const MAX_WAITING = 4_096;
const BATCH_SIZE = 512;
/** Milliseconds for all attempts to send a batch. The exporter restarts the time with each byte of an answer. */
const SEND_TIMEOUT = 2_000;
/** Milliseconds after which a batch counts as lost, even if its answer is still arriving. */
const BATCH_TIMEOUT = 2_500;
/** Milliseconds to send the waiting spans when the service stops. */
const CLOSE_TIMEOUT = 3_000;
/** Milliseconds that spans wait for a full batch. */
const BATCH_DELAY = 1_000;

/** `ExportResultCode.SUCCESS` of `@opentelemetry/core`, which is not among the dependencies. */
const SENT = 0;

/** Sends spans to a collector over OTLP, in the background. Spans that the collector does not accept are counted and dropped. */
export const openTelemetry = async (
  options: TracingOptions,
): Promise<SpanRecorder & { readonly close: () => Promise<void> }> => {
  const { version, ratio, followsCaller, onLost, onAttempt } = options;
  const { OTLPTraceExporter } = await EXPORTERS[options.protocol]();
  let waiting = 0;
  const otlp = new OTLPTraceExporter({ url: `${options.endpoint}/v1/traces`, timeoutMillis: SEND_TIMEOUT });
  const exporter: SpanExporter = {
    export: (spans, done) => {
      const settle = (error?: unknown): void => {
        waiting -= spans.length;
        if (error !== undefined) onLost(spans.length);
        onAttempt(error);
        // A failure counts as sent here: the SDK would log it, and `onAttempt` has got it already.
        done({ code: SENT });
      };
      const sent = new Promise<void>((resolve, reject) => {
        otlp.export(spans, ({ code, error }) => (code === SENT ? resolve() : reject(error ?? new Error('not sent'))));
      });
      withResponseTimeout(BATCH_TIMEOUT, sent, () => new Error('late')).then(() => settle(), settle);
    },
    shutdown: () => otlp.shutdown(),
  };
  const batches = new BatchSpanProcessor({
    exporter,
    ...{ maxQueueSize: MAX_WAITING, maxExportBatchSize: BATCH_SIZE, scheduledDelayMillis: BATCH_DELAY },
  });
  const processor: SpanProcessor = {
    onStart: () => undefined,
    onEnd(span) {
      if (waiting >= MAX_WAITING) return onLost(1);
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
  const provider = new TracerProvider({ resource: resourceOf(version), spanProcessors: [processor] });
  const tracer = provider.getTracer('tandem', version);
  return {
    samples: (caller) => (followsCaller && caller !== undefined ? (caller.flags & SAMPLED) !== 0 : random() < ratio),
    start(name, kind, attributes, parent) {
      const isRemote = kind === 'server';
      const context =
        parent === undefined
          ? ROOT_CONTEXT
          : trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags: SAMPLED, isRemote });
      const span = tracer.startSpan(name, { kind: SPAN_KINDS[kind], attributes }, context);
      const { traceId, spanId } = span.spanContext();
      return {
        traceId,
        spanId,
        rename: (to) => void span.updateName(to),
        set(more) {
          span.setAttributes(more);
          if ('error.type' in more) span.setStatus({ code: SpanStatusCode.ERROR });
        },
        end: () => span.end(),
      };
    },
    close: () => withTimeout(CLOSE_TIMEOUT, provider.shutdown(), () => new Error('late')).catch(() => undefined),
  };
};

/** OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME take precedence over the values here. */
const resourceOf = (version: string) =>
  defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'tandem', 'service.version': version }))
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
