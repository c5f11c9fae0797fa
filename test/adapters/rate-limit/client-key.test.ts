import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { clientKey } from '../../../src/adapters/http/rate-limit/client-key.ts';

/** @param ip what Koa makes of X-Forwarded-For. @param remote the other end of the connection. */
const keyOf = (ip: string, remote: string | undefined = '203.0.113.9') =>
  clientKey({ ip, req: { socket: { remoteAddress: remote } } } as Context);

describe("a client's key", () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:C000:0201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('is of %s %s', (address, key) => {
    expect(keyOf(address)).toBe(key);
  });

  it.each(['', 'unknown', 'localhost', '192.0.2.1, 192.0.2.2', '192.0.2.256', '1:2:3', '\0', 'a'.repeat(10_000)])(
    'is that of the connection where %j is no address',
    (claimed) => {
      expect(keyOf(claimed)).toBe('203.0.113.9');
      expect(keyOf(claimed, '::ffff:203.0.113.9')).toBe('203.0.113.9');
    },
  );

  it('is one for all whose connection is gone', () => {
    expect(clientKey({ ip: '', req: { socket: {} } } as Context)).toBe('unknown');
  });
});
