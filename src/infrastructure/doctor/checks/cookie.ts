import { hostOf, isLoopback } from '../../config/hosts.ts';
import type { Config } from '../../config.ts';
import { type Finding, note, ok, problem, warning, when } from '../finding.ts';
import { registrableDomain } from './site.ts';

export type CookieFacts = Pick<Config, 'environment' | 'baseUrl' | 'allowedOrigins' | 'allowedOriginsSetting'> & {
  /** The origins of the service's own pages that send requests to it. */
  readonly pageOrigins: readonly string[];
  readonly refreshCookie: Pick<Config['refreshCookie'], 'sameSite' | 'secure'>;
  /** Whether BASE_URL is set, so that `baseUrl` is what browsers see. */
  readonly isBaseUrlSet: boolean;
};

/** Whether browsers store the refresh cookie, and send it with requests of the pages that may call the service. */
export const cookieFindings = (facts: CookieFacts): Finding[] => {
  if (facts.environment === 'production' && !facts.isBaseUrlSet)
    return [
      note(
        'cookie.unknown',
        'BASE_URL is unset: whether browsers accept the cookie cannot be told.',
        'Set BASE_URL to the address that browsers use.',
      ),
    ];
  return [...ofService(facts), ...ofOrigins(facts)];
};

const ofService = ({ baseUrl, refreshCookie: { secure } }: CookieFacts): Finding[] => {
  const service = new URL(baseUrl);
  const isHttps = service.protocol === 'https:';
  const isLocal = isLoopback(hostOf(service));
  return [
    ...when(secure && !isHttps && !isLocal, () =>
      problem(
        'cookie.secure-over-http',
        `The cookie is Secure, and BASE_URL is ${service.origin}: browsers drop it, and no refresh works.`,
        'Put a proxy with TLS in front of the service, and set BASE_URL to its https address.',
      ),
    ),
    ...when(secure && !isHttps && isLocal, () =>
      note(
        'cookie.secure-on-loopback',
        'The cookie is Secure, and BASE_URL is http on this machine: Chrome and Firefox accept that, Safari does not.',
        'For Safari, set JWT_REFRESH_COOKIE_SECURE=false while you develop.',
      ),
    ),
    ...when(!secure && isHttps, () =>
      warning(
        'cookie.not-secure',
        'BASE_URL is https, and the cookie is not Secure: a browser also sends it over http.',
        'Set JWT_REFRESH_COOKIE_SECURE=true.',
      ),
    ),
  ];
};

const ofOrigins = (facts: CookieFacts): Finding[] => {
  const { allowedOrigins, allowedOriginsSetting, pageOrigins } = facts;
  if (allowedOrigins.length === 0)
    return [
      note(
        'cookie.no-origins',
        pageOrigins.length === 0
          ? 'No origin is allowed: pages in browsers get 403, even those of the service’s own address.'
          : `Only the origins of the service’s own pages are allowed (${pageOrigins.join(', ')}): other pages in browsers get 403.`,
        `If there is a front end, list its origin in ${allowedOriginsSetting}.`,
      ),
    ];
  const refused = allowedOrigins.map((origin) => ofOrigin(origin, facts));
  const accepted = allowedOrigins.filter((_origin, index) => refused[index] === null);
  return [
    ...when(accepted.length > 0, () =>
      ok('cookie.same-site', `Same site as the service, so that browsers send the cookie: ${accepted.join(', ')}.`),
    ),
    ...refused.filter((finding) => finding !== null),
  ];
};

/** @returns `null` when page and service are on one site. */
const ofOrigin = (origin: string, { baseUrl, refreshCookie: { sameSite } }: CookieFacts): Finding | null => {
  const [page, service] = [new URL(origin), new URL(baseUrl)];
  const [pageHost, serviceHost] = [hostOf(page), hostOf(service)];
  if (page.protocol === 'https:' && service.protocol === 'http:' && !isLoopback(serviceHost))
    return problem(
      'cookie.mixed-content',
      `Browsers block requests from ${origin} to ${service.origin}: an https page may not call an http service.`,
      'Serve the service over https, and set BASE_URL to that address.',
    );
  const isOneDomain = registrableDomain(pageHost) === registrableDomain(serviceHost);
  if (isOneDomain && page.protocol === service.protocol) return null;
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
  if (isLoopback(pageHost) && isLoopback(serviceHost))
    return problem(
      'cookie.loopback-names',
      `${origin} and ${service.origin} are two sites, though they are one machine: browsers drop the cookie (SameSite=${sameSite}).`,
      `Use one name for both: open the page at ${service.hostname}, and list that origin, or change BASE_URL.`,
    );
  return problem(
    'cookie.other-site',
    `${origin} is another site than ${service.origin}: browsers drop the cookie (SameSite=${sameSite}).`,
    'Serve both below one registrable domain, or set JWT_REFRESH_COOKIE_SAME_SITE=none, which many browsers block: docs/browser.md, "Same site".',
  );
};
