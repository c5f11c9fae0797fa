import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';

/** Sixteen-bit groups of an IPv6 address that name a network; the rest is its owner's to choose. */
const NETWORK_GROUPS = 4;

/** Who is counted: the IPv4 address, or the /64 network of the IPv6 address. */
export const clientKey = (ctx: Context): string => {
  const forwarded = ctx.ip;
  const address = ipaddr.isValid(forwarded) ? forwarded : (ctx.req.socket.remoteAddress ?? '');
  // A closed socket has no address any more; whoever closed it does not read the answer.
  return ipaddr.isValid(address) ? networkOf(address) : 'unknown';
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
