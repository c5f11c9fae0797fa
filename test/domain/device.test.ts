import { describe, expect, it } from 'vitest';
import { shortUserAgent } from '../../src/domain/device.ts';

describe('shortUserAgent', () => {
  it('keeps the user agent of a browser', () => {
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0';
    expect(shortUserAgent(firefox)).toBe(firefox);
    expect(shortUserAgent('Bröwser “7”')).toBe('Bröwser “7”');
  });

  it('keeps 256 characters, and does not split a surrogate pair', () => {
    expect(shortUserAgent('a'.repeat(300))).toBe('a'.repeat(256));
    expect(shortUserAgent('🦊'.repeat(300))).toBe('🦊'.repeat(256));
  });

  it.each([
    ['control characters', 'a\u0000b\u001b[31mc\u007f\u0085d\r\ne', 'ab[31mcde'],
    ['bidirectional and zero-width marks', 'a\u202eb\u200bc\ufeff', 'abc'],
    ['lone surrogates', 'a\ud800b\udc00', 'ab'],
    ['surrounding spaces', '  a b  ', 'a b'],
  ])('removes %s', (_what, text, kept) => {
    expect(shortUserAgent(text)).toBe(kept);
  });

  it.each(['', '   ', '\u0000\u0001'])('returns null for %j', (text) => {
    expect(shortUserAgent(text)).toBeNull();
  });
});
