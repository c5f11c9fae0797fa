import { AsyncLocalStorage } from 'node:async_hooks';
import { randomFillSync } from 'node:crypto';
import { AppError } from '../../domain/errors/app-error.ts';
import { redactError } from '../log/redact-error.ts';

/** A place in a trace, as W3C Trace Context names it. */
export type TraceParent = {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The span that caused what follows: 16 hexadecimal digits. */
  readonly spanId: string;
  /** `SAMPLED`, `RANDOM` or both. */
  readonly flags: number;
};

export const SAMPLED = 1;
/** The right half of the trace id is random (Level 2). */
const RANDOM = 2;

const FORM = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** @returns `undefined` for a header that is not valid: a new trace begins then. */
export const readTraceParent = (header: string): TraceParent | undefined => {
  const [, version, traceId, spanId, flags, more] = FORM.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(`${flags}`, 16) & (SAMPLED | RANDOM) };
};

export const writeTraceParent = ({ traceId, spanId, flags }: TraceParent): string =>
  `00-${traceId}-${spanId}-0${flags}`;

/** Random bytes in store, since drawing a few at a time takes longer. */
const store = Buffer.alloc(4_096);
let used = store.length;

const randomHex = (bytes: number): string => {
  if (used + bytes > store.length) {
    randomFillSync(store);
    used = 0;
  }
  used += bytes;
  return store.toString('hex', used - bytes, used);
};

const newSpanId = (): string => randomHex(8);

export const newTraceParent = (): TraceParent => ({ traceId: randomHex(16), spanId: newSpanId(), flags: RANDOM });

/** By the names of OpenTelemetry's semantic conventions. Neither secrets nor personal data: no addresses, names, tokens and query strings. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;
/** `client`: the service waits for another program. */
export type SpanKind = 'server' | 'client' | 'internal';

/** A span that is recorded. */
type RecordedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly rename: (name: string) => void;
  /** With `error.type`, a word for what has failed, the span counts as failed. */
  readonly set: (attributes: Attributes) => void;
  readonly end: () => void;
};

export type SpanRecorder = {
  /** Whether to record a trace that begins here. @param caller what a request says about the trace that it belongs to. */
  readonly samples: (caller?: TraceParent) => boolean;
  readonly start: (name: string, kind: SpanKind, attributes: Attributes, parent?: TraceParent) => RecordedSpan;
};

/** The trace that running code belongs to. `span` is `null` if it is not recorded. */
export type Trace = TraceParent & { readonly span: RecordedSpan | null };

/** `null` while tracing is off. */
let recorder: SpanRecorder | null = null;
const traces = new AsyncLocalStorage<Trace>();

/** Records the spans of this process, until the function that it returns is called. */
export const recordSpans = (given: SpanRecorder): (() => void) => {
  recorder = given;
  return () => {
    if (recorder === given) recorder = null;
  };
};

/** The trace of a request. The caller's trace id is taken; whether the trace is recorded is decided here. @param header `traceparent` */
export const traceOfRequest = (header: string): Trace => {
  const caller = header === '' ? undefined : readTraceParent(header);
  if (recorder === null) return caller === undefined ? new UnrecordedTrace() : { ...caller, span: null };
  return recorder.samples(caller) ? started(recorder, ['HTTP', 'server', {}, caller]) : unrecorded(caller);
};

const unrecorded = (caller?: TraceParent): Trace =>
  caller === undefined ? new UnrecordedTrace() : { ...caller, flags: caller.flags & RANDOM, span: null };

/** A trace that begins here. Most requests neither log nor ask another program, so its ids are drawn when one is read. */
class UnrecordedTrace implements Trace {
  readonly flags = RANDOM;
  readonly span = null;
  #ids: TraceParent | undefined;

  get traceId(): string {
    return this.#drawn.traceId;
  }

  get spanId(): string {
    return this.#drawn.spanId;
  }

  get #drawn(): TraceParent {
    this.#ids ??= newTraceParent();
    return this.#ids;
  }
}

const started = (by: SpanRecorder, given: Parameters<SpanRecorder['start']>): Trace => {
  const span = by.start(...given);
  const [, , , parent] = given;
  return { traceId: span.traceId, spanId: span.spanId, flags: SAMPLED | (parent?.flags ?? RANDOM), span };
};

export const inTrace = <Result>(trace: Trace, work: () => Result): Result => traces.run(trace, work);

/** A header for requests to other programs: they belong to the trace of the running code. */
export const traceHeaders = (): { readonly traceparent?: string } => {
  const trace = traces.getStore();
  return trace === undefined ? {} : { traceparent: writeTraceParent(trace) };
};

type Work<Result> = (set: RecordedSpan['set']) => Promise<Result>;
const nowhere = (): void => undefined;

/**
 * Records how long work takes, and whether it fails, as a part of the running trace. In the background, without one, a trace begins.
 * @param name of few different values, without a parameter of a request
 * @param work gets a function for attributes that are known later
 */
export const span = <Result>(
  name: string,
  attributes: Attributes,
  work: Work<Result>,
  kind: SpanKind = 'client',
): Promise<Result> => {
  if (recorder === null || traces.getStore() !== undefined) return innerSpan(name, attributes, work, kind);
  if (!recorder.samples()) return inTrace(unrecorded(), () => work(nowhere));
  return ended(started(recorder, [name, kind, attributes]), work);
};

/** The same for steps that mean nothing by themselves, such as a transaction: only in a trace that is recorded. */
export const innerSpan = <Result>(
  name: string,
  attributes: Attributes,
  work: Work<Result>,
  kind: SpanKind = 'client',
): Promise<Result> => {
  const parent = recorder === null ? undefined : traces.getStore();
  if (recorder === null || parent === undefined || parent.span === null) return work(nowhere);
  return ended(started(recorder, [name, kind, attributes, parent]), work);
};

/** The same for work in which no other span begins, such as a statement: it needs no context of its own. */
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
    (error) => fail(span, error),
  );
  return result;
};

const ended = async <Result>(trace: Trace, work: Work<Result>): Promise<Result> => {
  const { span } = trace;
  try {
    const result = await inTrace(trace, () => work((attributes) => span?.set(attributes)));
    span?.end();
    return result;
  } catch (error) {
    if (span !== null) fail(span, error);
    throw error;
  }
};

const fail = (span: RecordedSpan, error: unknown): void => {
  span.set({ 'error.type': errorTypeOf(error) });
  span.end();
};

/** A code of ours, of the system or of a driver, or the name of the error's class: never its message. */
const errorTypeOf = (error: unknown): string => {
  if (error instanceof AppError) return error.code;
  const { code, type } = redactError(error, 0);
  return String(code ?? type);
};
