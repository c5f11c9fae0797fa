import { describe, expect, it } from 'vitest';
import { oneTimePassword } from '../../../src/adapters/crypto/secrets.ts';

/** The ASCII text 12345678901234567890 in Base32. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

/** RFC 6238, appendix B: seconds since 1970, and the last six of the eight digits. */
const VECTORS = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const;

describe('oneTimePassword', () => {
  it.each(VECTORS)('has six digits, at %i seconds %s', (seconds, code) => {
    expect(oneTimePassword(SECRET, Math.floor(seconds / 30))).toBe(code);
  });

  it('takes secrets of any length in Base32', () => {
    // RFC 2104: a key that is shorter than a block is filled with zeros, so zeros at its end change nothing.
    expect(oneTimePassword('GEZDGNBVGY3TQOJQ', 1)).toBe(oneTimePassword('GEZDGNBVGY3TQOJQAAAAAAAA', 1));
    expect(oneTimePassword('GEZDGNBVGY3TQOJQ', 1)).not.toBe(oneTimePassword(SECRET, 1));
  });
});
