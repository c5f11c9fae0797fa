import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { withTimeout } from '../limits/response-timeout.ts';
import type { RecordedSpan, SpanRecorder } from './spans.ts';
import { SAMPLED } from './trace-parent.ts';

export type TracingOptions = {
  /** The URL of a collector, without a slash at the end. */
  readonly endpoint: string;
  /** The part of the traces that is recorded, from 0 to 1. */
  readonly ratio: number;
  /** Whether requests say themselves whether their trace is recorded. */
  readonly followsCaller: boolean;
  readonly version: string;
  /** Called with the number of spans that the collector did not take, or that there was no room for. */
  readonly onLost: (count: number) => void;
  /** Called after each attempt to send spans. */
  readonly onSent: (error?: unknown) => void;
};

/** Spans that wait, each of about two kilobytes. */
const MAX_WAITING = 4_096;
const BATCH = 512;
/** Milliseconds for sending a batch, with its repetitions. */
const TIMEOUT = 2_000;
/** Milliseconds for all that is left at the end. */
const CLOSE_TIMEOUT = 3_000;
/** Milliseconds that spans wait for others. */
const DELAY = 1_000;

/** `ExportResultCode.SUCCESS`, of a package that is not among the dependencies. */
const SENT = 0;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/** Sends spans to a collector, over OTLP. It never waits for it: what the collector does not take is counted, and lost. */
export const openTelemetry = (options: TracingOptions): SpanRecorder & { readonly close: () => Promise<void> } => {
  const { version, ratio, followsCaller, onLost, onSent } = options;
  let waiting = 0;
  const otlp = new OTLPTraceExporter({ url: `${options.endpoint}/v1/traces`, timeoutMillis: TIMEOUT });
  const exporter: SpanExporter = {
    export: (spans, done) =>
      otlp.export(spans, ({ code, error }) => {
        waiting -= spans.length;
        if (code !== SENT) onLost(spans.length);
        onSent(code === SENT ? undefined : (error ?? code));
        // A failure is reported here already.
        done({ code: SENT });
      }),
    shutdown: () => otlp.shutdown(),
  };
  const provider = new TracerProvider({
    resource: resourceOf(version),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        ...{ maxQueueSize: MAX_WAITING, maxExportBatchSize: BATCH, scheduledDelayMillis: DELAY },
      }),
    ],
  });
  const tracer = provider.getTracer('tandem', version);
  return {
    samples: (caller) =>
      followsCaller && caller !== undefined ? (caller.flags & SAMPLED) !== 0 : Math.random() < ratio,
    start(name, kind, attributes, parent): RecordedSpan {
      const context =
        parent === undefined
          ? ROOT_CONTEXT
          : trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags: SAMPLED, isRemote: kind === 'server' });
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, context);
      const { traceId, spanId } = span.spanContext();
      return {
        ...{ traceId, spanId },
        rename: (given) => void span.updateName(given),
        set(given) {
          span.setAttributes(given);
          if ('error.type' in given) span.setStatus({ code: SpanStatusCode.ERROR });
        },
        end() {
          if (waiting >= MAX_WAITING) return onLost(1);
          waiting += 1;
          span.end();
        },
      };
    },
    close: () => withTimeout(CLOSE_TIMEOUT, provider.shutdown(), () => new Error('late')).catch(() => undefined),
  };
};

/** OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME take precedence. */
const resourceOf = (version: string) =>
  defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'tandem', 'service.version': version }))
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
