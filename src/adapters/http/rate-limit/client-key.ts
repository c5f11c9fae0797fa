import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';

/** Octets of an IPv4 address that name a network; a key is the whole address. */
const OCTETS = [2, 3];
/** Sixteen-bit groups of an IPv6 address that name a network; a key has four. The rest is its owner's to choose. */
const GROUPS = [2, 3, 4];

/** Some proxies write the port of the client's connection behind its address. */
const WITH_PORT = /^(?:(?<ipv4>[\d.]+)|\[(?<ipv6>[^\]]+)\])(?::\d{1,5})?$/;

/**
 * Where a request comes from. Koa believes of X-Forwarded-For no more than the hops of TRUST_PROXY; where these tell no address,
 * it is the connection's own. `null` when that is closed: whoever closed it does not read the answer.
 */
export const clientAddress = (ctx: Context): string | null =>
  addressIn(ctx.ip) ?? addressIn(ctx.req.socket.remoteAddress ?? '');

/** Who is counted: the IPv4 address, or the /64 network of the IPv6 address. */
export const clientKey = (ctx: Context): string => clientNetworks(ctx).at(-1) ?? 'unknown';

/**
 * The networks that the client is in, the widest first, and its key at last: whoever has one of the wider ones has many keys.
 * /16 and /24 of IPv4, /32 and /48 of IPv6. ADR 0024.
 */
export const clientNetworks = (ctx: Context): readonly string[] => {
  const address = clientAddress(ctx);
  return address === null ? ['unknown'] : networksOf(address);
};

const addressIn = (text: string): string | null => {
  const { ipv4, ipv6 } = WITH_PORT.exec(text)?.groups ?? {};
  const address = ipv4 ?? ipv6 ?? text;
  return isIP(address) === 0 ? null : address;
};

const networksOf = (address: string): string[] => {
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) {
    return [...OCTETS.map((kept) => `${parsed.octets.slice(0, kept).join('.')}/${8 * kept}`), parsed.toString()];
  }
  const groups = parsed.parts.map((group) => group.toString(16));
  return GROUPS.map((kept) => `${groups.slice(0, kept).join(':')}::/${16 * kept}`);
};
