import { describe, expect, it } from 'vitest';
import { isSameDevice, shortUserAgent } from '../../src/domain/device.ts';

describe('shortUserAgent', () => {
  it('keeps the user agent of a browser', () => {
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0';
    expect(shortUserAgent(firefox)).toBe(firefox);
    expect(shortUserAgent('Bröwser “7”')).toBe('Bröwser “7”');
  });

  it('keeps 200 bytes, and does not split a character', () => {
    expect(shortUserAgent('a'.repeat(300))).toBe('a'.repeat(200));
    expect(shortUserAgent(`a${'🦊'.repeat(300)}`)).toBe(`a${'🦊'.repeat(49)}`);
    expect(shortUserAgent(`${'é'.repeat(99)}€${'a'.repeat(9)}`)).toBe('é'.repeat(99));
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

describe('isSameDevice', () => {
  const CHROME =
    'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36';
  const phone = { userAgent: CHROME, address: '192.0.2.0/24' };

  it('is true for another version of the browser and of the system', () => {
    const userAgent = CHROME.replace('142.0.0.0', '143.0.7444.59').replace('Android 15', 'Android 16');
    expect(isSameDevice(phone, { ...phone, userAgent })).toBe(true);
    const mac = 'Intel Mac OS X 10_15_7';
    expect(isSameDevice({ ...phone, userAgent: mac }, { ...phone, userAgent: 'Intel Mac OS X 11_2' })).toBe(true);
  });

  it.each([
    ['another network', { ...phone, address: '198.51.100.0/24' }],
    ['no network', { ...phone, address: null }],
    ['another browser', { ...phone, userAgent: CHROME.replace('Chrome', 'Firefox') }],
    ['no user agent', { ...phone, userAgent: null }],
  ])('is false for %s', (_what, other) => {
    expect(isSameDevice(phone, other)).toBe(false);
    expect(isSameDevice(other, other)).toBe(true);
  });
});
