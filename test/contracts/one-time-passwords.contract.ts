import { expect } from 'vitest';
import type { OneTimePasswords } from '../../src/application/ports/one-time-passwords.ts';
import { vitestSuite } from './suite.ts';

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

export const describeOneTimePasswords = (name: string, make: () => OneTimePasswords, suite = vitestSuite): void => {
  const { it } = suite;
  suite.describe(`${name} as OneTimePasswords`, () => {
    it('computes the codes of RFC 6238, appendix B, with six digits', () => {
      const passwords = make();
      for (const [seconds, code] of VECTORS) {
        if (!code.startsWith('0')) expect(passwords.codeOf(SECRET, Math.floor(seconds / 30))).toBe(code);
      }
    });

    it('keeps leading zeros', () => {
      const passwords = make();
      for (const [seconds, code] of VECTORS) {
        if (code.startsWith('0')) expect(passwords.codeOf(SECRET, Math.floor(seconds / 30))).toBe(code);
      }
    });

    it('takes secrets of any length in Base32', () => {
      const passwords = make();
      // RFC 2104: a key that is shorter than a block is filled with zeros, so zeros at its end change nothing.
      expect(passwords.codeOf('GEZDGNBVGY3TQOJQ', 1)).toBe(passwords.codeOf('GEZDGNBVGY3TQOJQAAAAAAAA', 1));
      expect(passwords.codeOf('GEZDGNBVGY3TQOJQ', 1)).not.toBe(passwords.codeOf(SECRET, 1));
    });
  });
};
