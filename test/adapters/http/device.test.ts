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
  it('has the network of its address, or none when its connection is closed', () => {
    expect(deviceAt('192.0.2.123:5678').address).toBe('192.0.2.0/24');
    expect(deviceAt('2001:db8:1:2:3:4:5:6').address).toBe('2001:db8:1::/48');
    expect(deviceAt('')).toEqual({ userAgent: null, address: null });
  });

  it('has its User-Agent, cut to the maximum length', () => {
    expect(deviceAt('', `curl/8 \u0007${'x'.repeat(10_000)}`).userAgent).toBe(`curl/8 ${'x'.repeat(193)}`);
  });
});
