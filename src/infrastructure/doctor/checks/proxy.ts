import { isLoopback } from '../../config/hosts.ts';
import type { Config } from '../../config.ts';
import { type Finding, note, ok, warning, when } from '../finding.ts';

export type ProxyFacts = Pick<Config, 'environment' | 'host' | 'baseUrl' | 'trustProxy'>;

const COUNT =
  'Count the proxies that append to X-Forwarded-For, and set TRUST_PROXY to their number: docs/deploy.md, "Reverse proxy".';

/** Whether the client address can be right, as far as that can be told without a request. */
export const proxyFindings = ({ environment, host, baseUrl, trustProxy }: ProxyFacts): Finding[] => {
  const isHttps = baseUrl.startsWith('https:');
  if (trustProxy === 0) {
    if (!isHttps) return [ok('proxy.none', 'No proxy is trusted: the client address is that of the connection.')];
    // In production, the start warns of it: configuration.TRUST_PROXY.
    return when(environment !== 'production', () =>
      warning(
        'proxy.untrusted',
        'BASE_URL is https, which requires a proxy, and TRUST_PROXY is 0: all clients behind it share one rate limit.',
        COUNT,
      ),
    );
  }
  return [
    note('proxy.hops', `${entryOf(trustProxy)} Whether that is right cannot be told without a request.`, COUNT),
    ...when(!isHttps, () =>
      warning(
        'proxy.unlikely',
        'TRUST_PROXY is above 0, but BASE_URL is not https: if no proxy is in front, each client chooses its own address, and escapes the limits.',
        'Set TRUST_PROXY=0 if clients reach the service directly.',
      ),
    ),
    ...when(!isLoopback(host), () =>
      note(
        'proxy.bypass',
        'The service trusts X-Forwarded-For, and listens beyond this machine: who reaches its port directly chooses an address.',
        'Let only the proxy reach the port: by a firewall, a network of its own, or HOST=127.0.0.1.',
      ),
    ),
  ];
};

const entryOf = (trustProxy: number): string =>
  trustProxy === 1
    ? 'One proxy is trusted: the client address is the last entry of X-Forwarded-For.'
    : `${trustProxy} proxies are trusted: the client address is entry ${trustProxy} of X-Forwarded-For, counted from the end.`;
