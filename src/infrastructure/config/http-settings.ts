import { hostOf, isLoopback } from './hosts.ts';
import type { Values } from './values.ts';

type OriginsVariable = 'ALLOWED_ORIGINS_DEV' | 'ALLOWED_ORIGINS_PROD';
type Tier = 'global' | 'strict' | 'public';

/** The part of the configuration for requests and responses. */
export type HttpSettings = {
  /** An http(s) URL without a trailing slash. */
  readonly baseUrl: string;
  /** Serialized origins (RFC 6454 §6.2). */
  readonly allowedOrigins: readonly string[];
  /** The variable that sets them. */
  readonly allowedOriginsSetting: OriginsVariable;
  /** The origins at which browsers open the pages of the service. */
  readonly ownOrigins: readonly string[];
  /** Whether there is the page `/console`. */
  readonly console: boolean;
  /** The number of proxies in front of the service. */
  readonly trustProxy: number;
  /** Milliseconds. */
  readonly requestTimeout: number;
  /** Milliseconds; `warn` is not above `error`. */
  readonly slowRequest: { readonly warn: number; readonly error: number };
  /** SPEC "Rate limiting"; windows in milliseconds, `null` is unlimited. */
  readonly rateLimits: Readonly<Record<Tier, { readonly requests: number; readonly window: number } | null>>;
};

export const httpSettings = (values: Values): HttpSettings => {
  const allowedOriginsSetting = values.NODE_ENV === 'production' ? 'ALLOWED_ORIGINS_PROD' : 'ALLOWED_ORIGINS_DEV';
  return {
    baseUrl: values.BASE_URL ?? `http://localhost:${values.PORT}`,
    allowedOrigins: values[allowedOriginsSetting],
    allowedOriginsSetting,
    ownOrigins: ownOriginsOf(values),
    console: values.CONSOLE === 'on',
    trustProxy: values.TRUST_PROXY,
    requestTimeout: values.REQUEST_TIMEOUT_MS,
    slowRequest: values.SLOW_REQUEST_THRESHOLDS,
    rateLimits: {
      global: limitOf(values.RATE_LIMIT_GLOBAL),
      strict: limitOf(values.RATE_LIMIT_STRICT),
      public: limitOf(values.RATE_LIMIT_PUBLIC),
    },
  };
};

/**
 * The origins of the service's own pages that send requests to it, which browsers name as they do for other pages.
 * @param hasAccountPages whether links in mail lead to pages of the service.
 */
export const pageOriginsOf = (
  { console, ownOrigins }: Pick<HttpSettings, 'console' | 'ownOrigins'>,
  hasAccountPages: boolean,
): readonly string[] => (console || hasAccountPages ? ownOrigins : []);

/** Outside production, this machine has several names. In production those would be other machines, those of the visitors. */
const ownOriginsOf = ({ NODE_ENV: environment, BASE_URL: baseUrl, PORT: port }: Values): string[] => {
  const production = environment === 'production';
  if (production && baseUrl === undefined) return [];
  const url = new URL(baseUrl ?? `http://localhost:${port}`);
  if (production || !isLoopback(hostOf(url))) return [url.origin];
  const names = ['localhost', '127.0.0.1', '[::1]'].map(
    (host) => new URL(`${url.protocol}//${host}:${url.port}`).origin,
  );
  return [...new Set([url.origin, ...names])];
};

const limitOf = (limit: Values['RATE_LIMIT_GLOBAL']) => (limit === 'off' ? null : limit);
