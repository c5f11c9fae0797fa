import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';
import pLimit from 'p-limit';
import { monotonicTime } from '../clock/system.ts';
import { LoggableError } from '../log/redact-error.ts';

/** Networks as `ipaddr.parseCIDR` returns them: an address, and the length of the prefix in bits. */
export type Networks = readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[];

export class RefusedAddress extends LoggableError {}

/** Whether an address is in an allowed network, or is public and used with `https:`. @param allowed WEBHOOK_ALLOWED_NETWORKS */
const isAllowed = (address: string, protocol: string, allowed: Networks): boolean => {
  // `ipaddr.process` converts an IPv4-mapped IPv6 address to IPv4.
  const parsed = ipaddr.process(address);
  const isInAllowedNetwork = allowed.some(
    ([base, bits]) => parsed.kind() === base.kind() && parsed.match([base, bits] as never),
  );
  return isInAllowedNetwork || (protocol === 'https:' && isPublic(parsed));
};

/** The IPv6 addresses that are allocated for global unicast. Some other ranges, such as 64:ff9b::/96, embed IPv4 addresses, which may be private. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const isPublic = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.range() === 'unicast' && (address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST));

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

const SLOW_MS = 1_000;

/** Looks up each name once at a time, and names whose last look-up was slow one after the other: by default, Node.js has only two threads for look-ups. */
export const limitedLookup = (lookUp: Resolve): Resolve => {
  const running = new Map<string, ReturnType<Resolve>>();
  const slow = new Set<string>();
  const oneAtATime = pLimit(1);
  const timedLookup: Resolve = async (hostname) => {
    const startedAt = monotonicTime();
    try {
      return await lookUp(hostname);
    } finally {
      if (monotonicTime() - startedAt > SLOW_MS) slow.add(hostname);
      else slow.delete(hostname);
      running.delete(hostname);
    }
  };
  return (hostname) => {
    const found =
      running.get(hostname) ?? (slow.has(hostname) ? oneAtATime(() => timedLookup(hostname)) : timedLookup(hostname));
    running.set(hostname, found);
    return found;
  };
};

const limitedResolve = limitedLookup((hostname) => promisify(lookup)(hostname, { all: true }));

/**
 * The addresses of a URL that `isAllowed`. A connection has to use these addresses, and must not resolve the name again.
 * @throws RefusedAddress if no address is allowed, or the error of the look-up
 */
export const allowedAddresses = async ({ hostname, protocol }: URL, allowed: Networks, resolve = limitedResolve) => {
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host) === 0 ? await resolve(host) : [{ address: host, family: isIP(host) }];
  const addresses = found.filter(({ address }) => isAllowed(address, protocol, allowed));
  if (addresses.length === 0) throw new RefusedAddress('the address is refused: it is not public');
  return addresses;
};

/** Makes a connection use addresses that were checked. */
export const pinnedLookup =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    const [{ address, family } = { address: '', family: 4 }] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, address, family);
  };
