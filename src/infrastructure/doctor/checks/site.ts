import { getDomain } from 'tldts';

/** The registrable domain of a host; the host itself if it has none, as `localhost` and IP addresses (HTML standard, "Sites"). */
export const registrableDomain = (host: string): string => getDomain(host, { allowPrivateDomains: true }) ?? host;
