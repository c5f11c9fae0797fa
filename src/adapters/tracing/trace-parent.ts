import { randomFillSync } from 'node:crypto';

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
export const RANDOM = 2;

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
