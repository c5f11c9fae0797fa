import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { deviceOf } from '../../../src/adapters/http/request/client.ts';

const deviceAt = (ip: string, userAgent = '') =>
  // `deviceOf` reads nothing else of a context.
  deviceOf({
    state: {},
    ip,
    get: (name: string) => (name === 'User-Agent' ? userAgent : ''),
    req: { socket: {} },
  } as Context);

describe('the device of a request', () => {
  it.each([
    ['192.0.2.123', '192.0.2.0/24'],
    ['::ffff:192.0.2.123', '192.0.2.0/24'],
    ['192.0.2.123:5678', '192.0.2.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8::/48'],
    ['[2001:db8:1:2::3]:5678', '2001:db8:1::/48'],
    ['fe80::1%eth0', 'fe80::/48'],
    ['::1', '::/48'],
  ])('for %s has the address %s', (ip, address) => {
    expect(deviceAt(ip).address).toBe(address);
  });

  it('has no address when its connection is closed', () => {
    expect(deviceAt('')).toEqual({ userAgent: null, address: null });
  });

  it('has its User-Agent, cut to the maximum length', () => {
    expect(deviceAt('', `curl/8 \u0007${'x'.repeat(10_000)}`).userAgent).toBe(`curl/8 ${'x'.repeat(193)}`);
  });
});
