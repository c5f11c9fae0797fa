// Proves ASVS 6.5.2, 6.5.3, 6.5.4; nist-7
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canonicalRecoveryCode, recoveryCodeFrom } from '../../src/domain/second-factor.ts';

const token = () => randomBytes(32).toString('base64url');

/** As a Japanese keyboard writes it. */
const wide = (text: string): string =>
  text.replaceAll(/[!-~]/g, (character) => String.fromCodePoint((character.codePointAt(0) ?? 0) + 0xfee0));

describe('a recovery code', () => {
  it('has 24 characters of 5 bits in groups of four, none of which is misread', () => {
    const codes = Array.from({ length: 2_000 }, () => recoveryCodeFrom(token()));
    for (const code of codes) expect(code).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){5}[0-9A-HJKMNP-TV-Z]{4}$/);
    expect(new Set(codes).size).toBe(codes.length);
    expect(new Set(codes.flatMap((code) => [...code])).size).toBe(33);
  });

  it('is the same however it was typed', () => {
    const code = recoveryCodeFrom(token());
    const canonical = code.replaceAll('-', '');
    for (const typed of [code, canonical, code.toLowerCase(), ` ${code.replaceAll('-', ' ')}\t`, wide(code)])
      expect(canonicalRecoveryCode(typed)).toBe(canonical);
    // One of before.
    expect(canonicalRecoveryCode('OIL0-1234-5678-9ABC')).toBe('0110123456789ABC');
  });

  it.each(['', '0123-4567-89AB', '0123-4567-89AB-CDEF-0', '0123-4567-89AB-CDEU', '½123-4567-89AB-CDEF'])(
    'is not %j',
    (typed) => expect(canonicalRecoveryCode(typed)).toBeNull(),
  );
});
