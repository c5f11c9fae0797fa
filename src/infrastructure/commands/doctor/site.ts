import { getDomain } from 'tldts';
import { hostOf } from '../../../adapters/redis/url.ts';
import { isLoopback, isOfProgram } from '../../config/urls.ts';
import type { Config } from '../../config.ts';
import { type Finding, type Findings, note, ok, problem, type SetUp, warning } from './examine.ts';

/** Examines whether browsers store the refresh cookie, and send it with requests from the allowed origins. */
export const cookie = ({ config, env }: SetUp): Findings => {
  if (config.nodeEnv === 'production' && !env.BASE_URL)
    return note('cookie.unknown', 'BASE_URL is unset: whether browsers accept the cookie is unknown.', 'Set it.');
  return [serviceFindings(config), originFindings(config)].flat();
};

/** Examines whether the service asks browsers to keep the key of a session (ADR 0006). */
export const device = ({ config: { boundCookieLifetime, deviceBinding, jwtBinding } }: SetUp): Findings => [
  ...(jwtBinding ? [BOUND_TOKENS] : []),
  boundCookieLifetime === null
    ? note(
        'device.page-keys',
        deviceBinding === 'off'
          ? 'DEVICE_BINDING is off: who copies the cookie can use it.'
          : 'Browsers are not asked to keep the key of a session, only pages make one.',
        'Device Bound Session Credentials need DEVICE_BINDING, an https BASE_URL and JWT_REFRESH_COOKIE_SECURE=true.',
      )
    : ok('device.browser-keys', 'Browsers that can keep the key of a session are asked to.'),
];

const BOUND_TOKENS = note(
  'device.bound-tokens',
  'Access tokens are bound to the key of their session. Whether other services that accept them demand its proofs is unknown.',
  'See that each of them does: docs/verify-tokens.md, "Tokens that are bound to a key".',
);

const serviceFindings = ({ baseUrl, refreshCookie: { secure } }: Config): Findings => {
  const service = new URL(baseUrl);
  if (!secure || service.protocol === 'https:') return [];
  if (isLoopback(hostOf(service)))
    return note(
      'cookie.secure-on-loopback',
      'The cookie is Secure, and BASE_URL is http on this machine: Chrome and Firefox accept that, Safari does not.',
      'For Safari, set JWT_REFRESH_COOKIE_SECURE=false while you develop.',
    );
  return problem(
    'cookie.secure-over-http',
    `The cookie is Secure, and BASE_URL is ${service.origin}: browsers drop it, and no refresh works.`,
    'Put a proxy with TLS in front of the service, and set BASE_URL to its https address.',
  );
};

const originFindings = (config: Config): Findings => {
  const { allowedOrigins, allowedOriginsSetting: setting } = config;
  if (allowedOrigins.length === 0)
    return note(
      'cookie.no-origins',
      `${setting} has no origin: pages in browsers get 403, except those of the service itself.`,
      `If there is a front end, list its origin in ${setting}.`,
    );
  return allowedOrigins.map((origin) =>
    isOfProgram(origin) ? programFinding(origin, config) : originFinding(origin, config),
  );
};

const programFinding = (origin: string, { refreshCookie: { sameSite } }: Config): Finding =>
  note(
    'cookie.program',
    `${origin} is of an app or an extension, which is another site than the service: whether the cookie (SameSite=${sameSite}) is kept depends on it.`,
    'See docs/native.md, "Apps and extensions with pages".',
  );

const originFinding = (origin: string, { baseUrl, refreshCookie: { sameSite } }: Config): Finding => {
  const [page, service] = [new URL(origin), new URL(baseUrl)];
  const [pageHost, serviceHost] = [hostOf(page), hostOf(service)];
  if (page.protocol === 'https:' && service.protocol === 'http:' && !isLoopback(serviceHost))
    return problem(
      'cookie.mixed-content',
      `Browsers block requests from ${origin} to ${service.origin}: an https page may not call an http service.`,
      'Serve the service over https, and set BASE_URL to that address.',
    );
  const isOneDomain = registrableDomain(pageHost) === registrableDomain(serviceHost);
  if (isOneDomain && page.protocol === service.protocol)
    return ok('cookie.same-site', `${origin} is the same site as ${service.origin}: browsers send the cookie.`);
  if (sameSite === 'none')
    return warning(
      'cookie.third-party',
      `${origin} is another site than ${service.origin}. The cookie is SameSite=None, but many browsers block cookies of other sites.`,
      'Serve page and service below one registrable domain, with the same scheme.',
    );
  if (isOneDomain)
    return problem(
      'cookie.other-scheme',
      `${origin} and ${service.origin} have different schemes, which Chrome counts as two sites: it drops the cookie (SameSite=${sameSite}).`,
      'Serve both over https, and list the https origin.',
    );
  return problem(
    'cookie.other-site',
    `${origin} is another site than ${service.origin}: browsers drop the cookie (SameSite=${sameSite}).`,
    isLoopback(pageHost) && isLoopback(serviceHost)
      ? `Open the page at ${service.hostname}, and list that origin: the names of this machine are different sites.`
      : 'Serve both below one registrable domain: docs/browser.md, "Same site".',
  );
};

/** The registrable domain of a host (HTML standard, "Sites"); for a host without one, such as `localhost`, the host itself. */
const registrableDomain = (host: string): string => getDomain(host, { allowPrivateDomains: true }) ?? host;

const COUNT_PROXIES =
  'Count the proxies that append to X-Forwarded-For, and set TRUST_PROXY to their number: docs/deploy.md, "Reverse proxy".';

/** Examines whether TRUST_PROXY lets the service find the addresses of clients. */
export const proxy = ({ config: { nodeEnv, baseUrl, trustProxy } }: SetUp): Findings => {
  const isHttps = baseUrl.startsWith('https:');
  if (trustProxy > 0 && isHttps)
    return note(
      'proxy.hops',
      `The client address is entry ${trustProxy} of X-Forwarded-For, counted from the end. Whether that is right cannot be known without a request.`,
      COUNT_PROXIES,
    );
  if (trustProxy > 0)
    return warning(
      'proxy.unlikely',
      'TRUST_PROXY is above 0, but BASE_URL is not https: if no proxy is in front, each client chooses its own address, and escapes the limits.',
      'Set TRUST_PROXY=0 if clients reach the service directly.',
    );
  if (!isHttps) return ok('proxy.none', 'No proxy is trusted: the client address is that of the connection.');
  // In production, the finding configuration.TRUST_PROXY says this already.
  if (nodeEnv === 'production') return [];
  return warning(
    'proxy.untrusted',
    'BASE_URL is https, which requires a proxy, and TRUST_PROXY is 0: all clients behind it share one rate limit.',
    COUNT_PROXIES,
  );
};
