import { AsyncLocalStorage } from 'node:async_hooks';
import { randomFillSync } from 'node:crypto';
import { AppError } from '../../domain/errors/app-error.ts';
import { redactError } from '../log/redact-error.ts';

/** The `traceparent` of W3C Trace Context. */
export type TraceParent = {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The parent of the spans that follow: 16 hexadecimal digits. */
  readonly spanId: string;
  readonly flags: number;
};

export const SAMPLED = 1;
/** A flag of Trace Context Level 2: at least the last seven bytes of the trace id are random. */
const RANDOM = 2;

const TRACE_PARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Reads the header `traceparent`. @returns `undefined` if it is not valid */
export const readTraceParent = (header: string): TraceParent | undefined => {
  const [, version, traceId, spanId, flags, more] = TRACE_PARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(`${flags}`, 16) & (SAMPLED | RANDOM) };
};

export const writeTraceParent = ({ traceId, spanId, flags }: TraceParent): string =>
  `00-${traceId}-${spanId}-0${flags}`;

/** Random bytes, read from the system in a block, since a read for each id would take longer. */
const randomPool = Buffer.alloc(4_096);
let usedBytes = randomPool.length;

const randomHex = (bytes: number): string => {
  if (usedBytes + bytes > randomPool.length) {
    randomFillSync(randomPool);
    usedBytes = 0;
  }
  usedBytes += bytes;
  return randomPool.toString('hex', usedBytes - bytes, usedBytes);
};

export const newTraceParent = (): TraceParent => ({ traceId: randomHex(16), spanId: randomHex(8), flags: RANDOM });

/** Named as in OpenTelemetry's semantic conventions, or `tandem.…`. No value may be secret or personal, as a username, a token or a query string is. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;
/** `server`: a request to the service; `client`: a request of the service to a database or another program; `internal`: a step within the service. */
export type SpanKind = 'server' | 'client' | 'internal';

type RecordedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly rename: (name: string) => void;
  /** Adds attributes. With `error.type` among them, the span counts as failed. */
  readonly set: (attributes: Attributes) => void;
  readonly end: () => void;
};

export type SpanRecorder = {
  /** Decides whether to record a trace. @param caller the `traceparent` of the request, if it has one */
  readonly samples: (caller?: TraceParent) => boolean;
  readonly start: (name: string, kind: SpanKind, attributes: Attributes, parent?: TraceParent) => RecordedSpan;
};

/** The trace of the running code. `span` is `null` if the trace is not recorded. */
export type Trace = TraceParent & { readonly span: RecordedSpan | null };

/** `null` while tracing is off. */
let recorder: SpanRecorder | null = null;
const traces = new AsyncLocalStorage<Trace>();

/** Records the spans of this process. @returns a function that ends the recording */
export const recordSpans = (newRecorder: SpanRecorder): (() => void) => {
  recorder = newRecorder;
  return () => {
    if (recorder === newRecorder) recorder = null;
  };
};

/** The trace of a request: that of the caller, or else a new one. The recorder decides whether to record it. @param header `traceparent`, or empty */
export const traceOfRequest = (header: string): Trace => {
  const caller = header === '' ? undefined : readTraceParent(header);
  if (recorder === null) return caller === undefined ? new UnrecordedTrace() : { ...caller, span: null };
  return recorder.samples(caller) ? startTrace(recorder, ['HTTP', 'server', {}, caller]) : unrecordedTrace(caller);
};

const unrecordedTrace = (caller?: TraceParent): Trace =>
  caller === undefined ? new UnrecordedTrace() : { ...caller, flags: caller.flags & RANDOM, span: null };

/** A new trace. Its ids are made when an id is first read, since not every request needs them. */
class UnrecordedTrace implements Trace {
  readonly flags = RANDOM;
  readonly span = null;
  #ids: TraceParent | undefined;

  get traceId(): string {
    return this.#parent.traceId;
  }

  get spanId(): string {
    return this.#parent.spanId;
  }

  get #parent(): TraceParent {
    this.#ids ??= newTraceParent();
    return this.#ids;
  }
}

const startTrace = (spanRecorder: SpanRecorder, start: Parameters<SpanRecorder['start']>): Trace => {
  const span = spanRecorder.start(...start);
  const [, , , parent] = start;
  return { traceId: span.traceId, spanId: span.spanId, flags: SAMPLED | (parent?.flags ?? RANDOM), span };
};

export const runInTrace = <Result>(trace: Trace, work: () => Result): Result => traces.run(trace, work);

/** The header that makes a request to another program a part of the trace of the running code; no header outside of a trace. */
export const traceHeaders = (): { readonly traceparent?: string } => {
  const trace = traces.getStore();
  return trace === undefined ? {} : { traceparent: writeTraceParent(trace) };
};

type Work<Result> = (set: RecordedSpan['set']) => Promise<Result>;
const noop = (): void => undefined;

/**
 * Records how long work takes, and whether it fails. Outside of a trace, as in background tasks, it begins a new trace.
 * @param name must not contain what a client has sent, so that there are few names
 * @param work gets a function that sets further attributes
 */
export const span = <Result>(
  name: string,
  attributes: Attributes,
  work: Work<Result>,
  kind: SpanKind = 'client',
): Promise<Result> => {
  if (recorder === null || traces.getStore() !== undefined) return innerSpan(name, attributes, work, kind);
  if (!recorder.samples()) return runInTrace(unrecordedTrace(), () => work(noop));
  return runAndEnd(startTrace(recorder, [name, kind, attributes]), work);
};

/** As `span`, for a step that alone is no trace, such as a transaction: outside of a trace, nothing is recorded. */
export const innerSpan = <Result>(
  name: string,
  attributes: Attributes,
  work: Work<Result>,
  kind: SpanKind = 'client',
): Promise<Result> => {
  const parent = recorder === null ? undefined : traces.getStore();
  if (recorder === null || parent === undefined || parent.span === null) return work(noop);
  return runAndEnd(startTrace(recorder, [name, kind, attributes, parent]), work);
};

/** As `innerSpan`, for work in which no other span begins, such as a statement. It needs no asynchronous context of its own, which saves time. */
export const leafSpan = <Result>(
  name: string,
  attributes: Attributes,
  work: () => Promise<Result>,
  kind: SpanKind = 'client',
): Promise<Result> => {
  const parent = recorder === null ? undefined : traces.getStore();
  if (recorder === null || parent === undefined || parent.span === null) return work();
  const span = recorder.start(name, kind, attributes, parent);
  const result = work();
  result.then(
    () => span.end(),
    (error) => endWithError(span, error),
  );
  return result;
};

const runAndEnd = async <Result>(trace: Trace, work: Work<Result>): Promise<Result> => {
  const { span } = trace;
  try {
    const result = await runInTrace(trace, () => work((attributes) => span?.set(attributes)));
    span?.end();
    return result;
  } catch (error) {
    if (span !== null) endWithError(span, error);
    throw error;
  }
};

const endWithError = (span: RecordedSpan, error: unknown): void => {
  const { code, type } = error instanceof AppError ? { code: error.code, type: '' } : redactError(error, 0);
  span.set({ 'error.type': String(code ?? type) });
  span.end();
};
