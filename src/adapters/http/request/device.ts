import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';
import { type Device, shortUserAgent } from '../../../domain/device.ts';
import type { Origin } from '../../../domain/event.ts';
import { clientAddress } from '../rate-limit/client-key.ts';

/** The part of an address that is stored: 24 bits of IPv4, 48 bits of IPv6. */
const KEPT_OCTETS = 3;
const KEPT_GROUPS = 3;

/** The device that sent the request: its user agent and the shortened address. */
export const deviceOf = (ctx: Context): Device => {
  const address = clientAddress(ctx);
  return { userAgent: shortUserAgent(ctx.get('User-Agent')), address: address && shortened(address) };
};

/** The origin of a change: the device and the request. */
export const originOf = (ctx: Context): Origin => ({ ...deviceOf(ctx), requestId: ctx.request.id });

const shortened = (address: string): string => {
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return `${parsed.octets.slice(0, KEPT_OCTETS).join('.')}.0/24`;
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, KEPT_GROUPS), 0, 0, 0, 0, 0])}/48`;
};
