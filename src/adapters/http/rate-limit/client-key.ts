import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';

/** Sixteen-bit groups of an IPv6 address that name a network; the rest is its owner's to choose. */
const NETWORK_GROUPS = 4;

/** Some proxies write the port of the client's connection behind its address. */
const WITH_PORT = /^(?:(?<ipv4>[\d.]+)|\[(?<ipv6>[^\]]+)\])(?::\d{1,5})?$/;

/**
 * Where a request comes from. Koa believes of X-Forwarded-For no more than the hops of TRUST_PROXY; where these tell no address,
 * it is the connection's own. `null` when that is closed: whoever closed it does not read the answer.
 */
export const clientAddress = (ctx: Context): string | null =>
  addressIn(ctx.ip) ?? addressIn(ctx.req.socket.remoteAddress ?? '');

/** Who is counted: the IPv4 address, or the /64 network of the IPv6 address. */
export const clientKey = (ctx: Context): string => {
  const address = clientAddress(ctx);
  return address === null ? 'unknown' : networkOf(address);
};

const addressIn = (text: string): string | null => {
  const { ipv4, ipv6 } = WITH_PORT.exec(text)?.groups ?? {};
  const address = ipv4 ?? ipv6 ?? text;
  return isIP(address) === 0 ? null : address;
};

const networkOf = (address: string): string => {
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? `${parsed.parts
        .slice(0, NETWORK_GROUPS)
        .map((group) => group.toString(16))
        .join(':')}::/64`
    : parsed.toString();
};
