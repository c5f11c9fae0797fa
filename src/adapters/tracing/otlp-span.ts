import { type HrTime, type SpanContext, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { monotonicTime, systemClock } from '../clock/system.ts';
import type { Attributes, RecordedSpan, SpanRecorder } from './spans.ts';
import { newSpanId, newTraceParent, SAMPLED } from './trace-parent.ts';

/** What all spans of a recorder have in common. */
export type SpanSource = Pick<ReadableSpan, 'resource' | 'instrumentationScope'> & {
  readonly onEnd: (span: ReadableSpan) => void;
};

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;
const UNSET = { code: SpanStatusCode.UNSET };
const FAILED = { code: SpanStatusCode.ERROR };
const NONE: never[] = [];

/**
 * A span in the form that OpenTelemetry's exporters read. Those that its SDK makes have what this service does not need, at a cost: a sampler,
 * limits, events, links and a check of each value (ADR 0032).
 */
export class OtlpSpan implements RecordedSpan, ReadableSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanContext?: SpanContext;
  readonly kind: SpanKind;
  name: string;
  attributes: Attributes;
  status = UNSET;
  readonly #source: SpanSource;
  /** Epoch milliseconds. */
  readonly #startedAt = systemClock.now();
  readonly #start = monotonicTime();
  /** Milliseconds, by the monotonic clock; negative until the end. */
  #duration = -1;

  constructor(source: SpanSource, ...[name, kind, attributes, parent]: Parameters<SpanRecorder['start']>) {
    this.#source = source;
    this.name = name;
    this.kind = KINDS[kind];
    this.attributes = attributes;
    const { traceId, spanId } = parent === undefined ? newTraceParent() : { ...parent, spanId: newSpanId() };
    this.traceId = traceId;
    this.spanId = spanId;
    if (parent !== undefined) this.parentSpanContext = contextOf(parent, kind === 'server');
  }

  rename(name: string): void {
    this.name = name;
  }

  set(attributes: Attributes): void {
    this.attributes = { ...this.attributes, ...attributes };
    if ('error.type' in attributes) this.status = FAILED;
  }

  end(): void {
    this.#duration = monotonicTime() - this.#start;
    this.#source.onEnd(this);
  }

  spanContext(): SpanContext {
    return contextOf(this);
  }

  get startTime(): HrTime {
    return hrTime(this.#startedAt);
  }

  get endTime(): HrTime {
    return hrTime(this.#startedAt + this.#duration);
  }

  get duration(): HrTime {
    return hrTime(this.#duration);
  }

  get ended(): boolean {
    return this.#duration >= 0;
  }

  get resource() {
    return this.#source.resource;
  }

  get instrumentationScope() {
    return this.#source.instrumentationScope;
  }

  get links() {
    return NONE;
  }

  get events() {
    return NONE;
  }

  get droppedAttributesCount() {
    return 0;
  }

  get droppedEventsCount() {
    return 0;
  }

  get droppedLinksCount() {
    return 0;
  }
}

const contextOf = ({ traceId, spanId }: Pick<SpanContext, 'traceId' | 'spanId'>, isRemote = false): SpanContext => ({
  traceId,
  spanId,
  traceFlags: SAMPLED,
  isRemote,
});

/** @param time milliseconds. @returns seconds and nanoseconds */
const hrTime = (time: number): HrTime => [Math.floor(time / 1_000), Math.floor((time % 1_000) * 1_000_000)];
