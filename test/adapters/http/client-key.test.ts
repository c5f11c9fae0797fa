import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { clientKey, clientNetworks } from '../../../src/adapters/http/request/client.ts';

/** @param ip the address that Koa takes from X-Forwarded-For. @param remote the address of the connection. */
const keyOf = (ip: string, remote: string | undefined = '203.0.113.9') =>
  // Here and below: `clientKey` reads nothing else of a context.
  clientKey({ state: {}, ip, req: { socket: { remoteAddress: remote } } } as Context);

describe("a client's key", () => {
  it('is its own for each of many clients, whichever of them are remembered', () => {
    const addresses = Array.from({ length: 2_500 }, (_, at) => `198.18.${at >> 8}.${at & 255}`);
    for (const address of [...addresses, ...addresses.toReversed()]) expect(keyOf(address)).toBe(address);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:C000:0201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['::1', '::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['fe80::1%eth0.100', 'fe80::/64'],
    ['fe80::1%br-lan', 'fe80::/64'],
    ['fe80::1%-.:', 'fe80::/64'],
    ['FE80::1%25', 'fe80::/64'],
    [`fe80::1%${'z'.repeat(10_000)}`, 'fe80::/64'],
    ['192.0.2.1:5678', '192.0.2.1'],
    ['[2001:db8:1:2::3]:5678', '2001:db8:1:2::/64'],
    ['[::1]:5678', '::/64'],
    ['[::1]', '::/64'],
    ['[fe80::1%eth0]:65535', 'fe80::/64'],
    ['[::ffff:192.0.2.1]:80', '192.0.2.1'],
  ])('for %.60s is %s', (address, key) => {
    expect(keyOf(address)).toBe(key);
  });

  it.each([
    ...['', 'unknown', 'localhost', '192.0.2.1, 192.0.2.2', '192.0.2.256', '192.0.2.01', '192.0.2', '3221225985'],
    ...['0xc0000201', '1:2:3', '192.0.2.1:', '192.0.2.1:port', '192.0.2.1:123456', '192.0.2.1:80:80', '[::1'],
    ...['::1]:80', '[]:80', '[::1]:80, ::1', '[[::1]]', 'for=192.0.2.1', '"[::1]:80"', '%eth0', '\0'],
    'a'.repeat(10_000),
    '1'.repeat(10_000),
    ':'.repeat(10_000),
    '['.repeat(10_000),
    `[${':'.repeat(10_000)}]:80`,
    `192.0.2.1:${'8'.repeat(10_000)}`,
  ])('is the address of the connection when %.40s is not an address', (claimed) => {
    expect(keyOf(claimed)).toBe('203.0.113.9');
    expect(keyOf(claimed, '::ffff:203.0.113.9')).toBe('203.0.113.9');
  });

  it('is the same for all clients whose connection is closed', () => {
    expect(clientKey({ state: {}, ip: '', req: { socket: {} } } as Context)).toBe('unknown');
  });
});

describe("a client's networks", () => {
  const networksOf = (ip: string) => clientNetworks({ state: {}, ip, req: { socket: {} } } as Context);

  it.each([
    ['192.0.2.1', ['192.0.0.0/16', '192.0.2.0/24', '192.0.2.1']],
    ['::ffff:192.0.2.1', ['192.0.0.0/16', '192.0.2.0/24', '192.0.2.1']],
    ['2001:db8:a:b:1:2:3:4', ['2001:db8::/32', '2001:db8:a::/48', '2001:db8:a:b::/64']],
    ['::1', ['::/32', '::/48', '::/64']],
    ['', ['unknown']],
  ])('for %s begin with the widest, and end with the key of the client', (ip, networks) => {
    expect(networksOf(ip)).toEqual(networks);
    expect(clientKey({ state: {}, ip, req: { socket: {} } } as Context)).toBe(networks.at(-1));
  });

  it('contain no space, which separates them in stored counts', () => {
    for (const ip of ['192.0.2.1', 'fe80::1%a b', ' 192.0.2.1', '[::1 ]:80']) {
      for (const network of networksOf(ip)) expect(network).not.toMatch(/\s/);
    }
  });
});
