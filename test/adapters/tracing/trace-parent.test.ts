import { describe, expect, it } from 'vitest';
import { newTraceParent, readTraceParent, writeTraceParent } from '../../../src/adapters/tracing/spans.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('traceparent, as W3C Trace Context says', () => {
  it.each([
    ['sampled', `00-${TRACE}-${SPAN}-01`, 1],
    ['neither sampled nor random', `00-${TRACE}-${SPAN}-00`, 0],
    ['with flags that mean nothing yet', `00-${TRACE}-${SPAN}-ff`, 3],
    ['of a later version', `01-${TRACE}-${SPAN}-02`, 2],
    ['of a later version, with more fields', `cc-${TRACE}-${SPAN}-01-what-ever`, 1],
  ])('is read: %s', (_what, header, flags) => {
    expect(readTraceParent(header)).toEqual({ traceId: TRACE, spanId: SPAN, flags });
  });

  it.each([
    ['without a span', `00-${TRACE}-01`],
    ['of the version that is invalid', `ff-${TRACE}-${SPAN}-01`],
    ['of version 00 with more fields', `00-${TRACE}-${SPAN}-01-more`],
    ['with more characters', `01-${TRACE}-${SPAN}-01more`],
    ['in capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['with a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['with a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['sent twice', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['with a line break', `00-${TRACE}-${SPAN}-01\n`],
    ['short', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ])('is not read: %s', (_what, header) => {
    expect(readTraceParent(header)).toBeUndefined();
  });

  it('is written as it is read, and differs for each trace', () => {
    const [one, other] = [newTraceParent(), newTraceParent()];
    expect(readTraceParent(writeTraceParent(one))).toEqual({ ...one, flags: 2 });
    expect(one.traceId).not.toBe(other.traceId);
  });
});
