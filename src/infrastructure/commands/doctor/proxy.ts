import { note, ok, type Seen, type SetUp, warning } from './finding.ts';

const COUNT =
  'Count the proxies that append to X-Forwarded-For, and set TRUST_PROXY to their number: docs/deploy.md, "Reverse proxy".';

/** Whether the client address can be right, as far as that can be told without a request. */
export const proxy = ({ config: { environment, baseUrl, trustProxy } }: Pick<SetUp, 'config'>): Seen => {
  const isHttps = baseUrl.startsWith('https:');
  if (trustProxy > 0 && isHttps)
    return note(
      'proxy.hops',
      `The client address is entry ${trustProxy} of X-Forwarded-For, counted from the end. Whether that is right cannot be told without a request.`,
      COUNT,
    );
  if (trustProxy > 0)
    return warning(
      'proxy.unlikely',
      'TRUST_PROXY is above 0, but BASE_URL is not https: if no proxy is in front, each client chooses its own address, and escapes the limits.',
      'Set TRUST_PROXY=0 if clients reach the service directly.',
    );
  if (!isHttps) return ok('proxy.none', 'No proxy is trusted: the client address is that of the connection.');
  // In production, the start warns of it: configuration.TRUST_PROXY.
  if (environment === 'production') return [];
  return warning(
    'proxy.untrusted',
    'BASE_URL is https, which requires a proxy, and TRUST_PROXY is 0: all clients behind it share one rate limit.',
    COUNT,
  );
};
