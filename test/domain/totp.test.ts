// Proves ASVS 6.5.3, 6.5.4; nist-8
import { describe, expect, it } from 'vitest';
import { acceptedSteps, CODE_PATTERN, secretFrom, totpUri } from '../../src/domain/second-factor.ts';

const TOKEN = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq';

it('the steps of one-time codes are the present one and one on either side, for clocks that differ', () => {
  expect(acceptedSteps(59_999)).toEqual([1, 0, 2]);
  expect(acceptedSteps(60_000)).toEqual([2, 1, 3]);
});

describe('a code', () => {
  it.each(['12345', '1234567', '12345a', '１２３４５６', ' 123456', '123456\n'])('is not %j', (text) => {
    expect(CODE_PATTERN.test(text)).toBe(false);
  });

  it('may begin with zeros', () => expect(CODE_PATTERN.test('000001')).toBe(true));
});

describe('a secret', () => {
  it('has 160 bits in Base32, 5 of each character of the token', () => {
    expect(secretFrom(TOKEN)).toBe('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567');
    expect(secretFrom('-_9876543210zyxwvutsrqponmlkjihgfedcbaZYXWV')).toMatch(/^[A-Z2-7]{32}$/);
  });

  it('is given to apps in an address, whatever the names of the service and the account are', () => {
    const uri = new URL(totpUri('GEZDGNBV', { service: ' A & B::1? : ', account: 'ada@example.org' }));
    expect([uri.protocol, uri.host, decodeURIComponent(uri.pathname)]).toEqual([
      'otpauth:',
      'totp',
      '/A & B 1?:ada@example.org',
    ]);
    expect(Object.fromEntries(uri.searchParams)).toEqual({
      secret: 'GEZDGNBV',
      // A colon ends the name of the issuer, also one that is percent-encoded.
      issuer: 'A & B 1?',
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
  });
});
