import { isIP } from 'node:net';
import * as v from 'valibot';
import type { PageServer } from '../../adapters/http/request/settings.ts';
import { hostOf } from '../../adapters/redis/url.ts';
import { canonicalLocale } from '../../domain/locale.ts';
import { hidesSomething } from '../../domain/text.ts';
import { EMAIL_MAX_LENGTH, EMAIL_PATTERN } from '../../domain/user.ts';
import { isLoopback } from './hosts.ts';

/** Milliseconds. */
export const DAY = 86_400_000;
const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY } as const;
const DURATION = /^([1-9]\d{0,9})([smhd])$/;

/** Milliseconds: ten years, so that sums with the current time are valid dates. */
export const MAX_DURATION = 3_650 * DAY;

/** `10s`, `15m`, `12h`, `7d` or a plain `0`. @returns milliseconds, or `null` for anything else and for over ten years. */
export const parseDuration = (text: string): number | null => {
  if (text === '0') return 0;
  const [, amount, unit] = DURATION.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return null;
  // The pattern admits only units of UNITS.
  const milliseconds = Number(amount) * UNITS[unit as keyof typeof UNITS];
  return milliseconds <= MAX_DURATION ? milliseconds : null;
};

/**
 * Schemas of single variables, from text to value. Their issues are not shown, since valibot's messages repeat the value: an error is made
 * from `expected` of the variable.
 */

export const parsed = <T>(parse: (text: string) => T | null) =>
  v.pipe(
    v.string(),
    v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
      const value = parse(dataset.value);
      if (value !== null) return value;
      addIssue();
      return NEVER;
    }),
  );

export const wholeNumber = (min: number, max: number) =>
  v.pipe(v.string(), v.regex(/^(?:0|[1-9]\d{0,14})$/), v.transform(Number), v.minValue(min), v.maxValue(max));

export const flag = v.pipe(
  v.picklist(['true', 'false']),
  v.transform((text) => text === 'true'),
);

/** Milliseconds. */
export const duration = parsed((text) => parseDuration(text) || null);
export const durationFromZeroTo = (limit: number) => v.pipe(parsed(parseDuration), v.maxValue(limit));

export const host = v.pipe(
  v.string(),
  v.check((text) => isIP(text) !== 0 || /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})$/.test(text)),
);

/** A domain as browsers write it. */
export const domain = v.pipe(
  v.string(),
  v.maxLength(253),
  v.regex(/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/),
);

/** `off`, `port` or `address:port`; an IPv6 address in brackets. */
export const metrics = parsed<{ host: string; port: number } | 'off'>((text) => {
  if (text === 'off') return 'off';
  const [, address = '127.0.0.1', port] = /^(?:(\[[0-9A-Fa-f.:]+\]|[0-9.]+):)?([1-9]\d{0,4})$/.exec(text) ?? [];
  const host = address.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && Number(port) <= 65_535 ? { host, port: Number(port) } : null;
});

/** Rejects a leading ~, which only a shell expands, and surrounding spaces: both would become part of the name. */
export const path = v.pipe(
  v.string(),
  v.check((text) => text.trim() === text && !text.startsWith('~') && !hasControls(text)),
);

const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:';

/** An http(s) URL without credentials, and without these characters in its text. */
const httpUrl = (text: string, refused: RegExp): URL | null => {
  const url = URL.parse(text);
  return url !== null && isHttp(url) && !refused.test(text) && url.username === '' && url.password === '' ? url : null;
};

/** An http(s) URL without credentials, query and fragment; a trailing slash is dropped. */
export const baseUrl = parsed((text) => {
  const url = httpUrl(text, /[?#*\s]/);
  // With the lookbehind, a match can only start at the first slash of a run, so the time is linear.
  return url && `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
});

/** The URL of a page, which may have a query. */
export const pageUrl = parsed((text) => httpUrl(text, /[#\s]/)?.href ?? null);

export const itemsOf = (text: string): string[] => text.split(',').map((item) => item.trim());

const TIERS = ['global', 'strict', 'public'] as const;
/** Requests in a window of milliseconds; `null` is unlimited. */
type RateLimit = { readonly requests: number; readonly window: number } | null;
export type RateLimits = Readonly<Record<(typeof TIERS)[number], RateLimit>>;

const OFF: RateLimits = { global: null, strict: null, public: null };

/** `global=requests/seconds,strict=…,public=…`, or some of them; each may be `off`, or `off` for all. @returns `null` for anything else. */
const parseRateLimits = (text: string): Partial<RateLimits> | null => {
  if (text === 'off') return OFF;
  const given = itemsOf(text).map((item) => {
    const [, name, limit = ''] = /^(\w+)=(\S+)$/.exec(item) ?? [];
    return [TIERS.find((tier) => tier === name), rateLimit(limit)] as const;
  });
  const isValid = given.every(([tier, limit]) => tier !== undefined && limit !== undefined);
  return isValid && new Set(given.map(([tier]) => tier)).size === given.length ? Object.fromEntries(given) : null;
};

export const rateLimits = parsed(parseRateLimits);

/** The limits of a default text, with those that are given. */
export const completeRateLimits = (defaults: string, given: Partial<RateLimits>): RateLimits => ({
  ...OFF,
  ...parseRateLimits(defaults),
  ...given,
});

/** @returns `undefined` for an invalid text. */
const rateLimit = (text: string): RateLimit | undefined => {
  if (text === 'off') return null;
  const [, requests, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,4})$/.exec(text) ?? [];
  if (requests === undefined || seconds === undefined || Number(seconds) > 86_400) return undefined;
  return { requests: Number(requests), window: Number(seconds) * 1_000 };
};

const threshold = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
export const thresholds = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({ warn: threshold, error: threshold }),
  v.check(({ warn, error }) => warn <= error),
);

/** Whether all drivers parse the URL alike: without control characters, and with valid percent-encoding. */
export const isUrlOf = (text: string, protocols: readonly string[]): boolean =>
  protocols.includes(URL.parse(text)?.protocol ?? '') && !hasControls(text.trim()) && isDecodable(text);

const hasControls = (text: string): boolean => /\p{Cc}/u.test(text);

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

/** Refuses port 0, and control characters in the decoded user name and password, which SMTP cannot send. */
export const mailUrl = parsed((text) => {
  if (!isUrlOf(text, ['smtp:', 'smtps:']) || /[?#](?!requireTLS=false$)/.test(text.trim())) return null;
  const url = new URL(text);
  const { port, username, password, pathname } = url;
  const isServer = v.is(host, hostOf(url)) && port !== '0' && /^\/?$/.test(pathname);
  const isUser = (username === '') === (password === '');
  return isServer && isUser && !hasControls(decodeURIComponent(username + password)) ? text.trim() : null;
});

/** A `mailbox` (RFC 5322 §3.4) that all mail servers accept: a name without special characters, and an address in ASCII. */
export const mailbox = v.pipe(
  v.string(),
  v.regex(/^(?:[^<>()[\]:;@\\,"\s][^<>()[\]:;@\\,"]{0,99} <[^<>]+>|[^<>]+)$/u),
  v.check((text) => !hidesSomething(text)),
  v.check((text) => isMailAddress(/<(.+)>$/.exec(text)?.[1] ?? text)),
);

/** A host may have one label: `localhost`. */
const isMailAddress = (text: string): boolean =>
  text.length <= EMAIL_MAX_LENGTH && (EMAIL_PATTERN.test(text) || EMAIL_PATTERN.test(`${text}.example`));

/** One line of visible characters, without spaces around it. */
export const brandName = v.pipe(
  v.string(),
  v.regex(/^(?! ).{1,60}(?<! )$/u),
  v.check((text) => !hidesSomething(text)),
);

/** A URL of a picture that pages may load: its host becomes part of a Content-Security-Policy. `http:` only on this machine. */
export const logoUrl = parsed((text) => {
  const url = httpUrl(text, /[#*\s]/);
  return url !== null && (url.protocol === 'https:' || isLoopback(hostOf(url))) ? url.href : null;
});

export const color = v.pipe(v.string(), v.regex(/^#[0-9A-Fa-f]{6}$/), v.toLowerCase());

export const locale = parsed(canonicalLocale);

/** Some of the items, separated by commas, or `off`. */
export const listOf = <const T extends string>(items: readonly T[]) =>
  parsed<readonly T[]>((text) => {
    if (text === 'off') return [];
    const given = itemsOf(text);
    const known = items.filter((item) => given.includes(item));
    return given.every((item) => known.some((one) => one === item)) ? known : null;
  });

/** Bytes. */
export const KEY_SIZE = 32;

/** The key of 32 bytes that a text in base64url stands for, or `null`. Several texts may stand for the same bytes: one is accepted. */
export const secretKey = (text: string): Buffer | null => {
  const key = Buffer.from(text, 'base64url');
  return key.length === KEY_SIZE && key.toString('base64url') === text ? key : null;
};

export type SecretKeys = readonly [Buffer, ...Buffer[]];

/** Different keys of 32 bytes in base64url, separated by commas. */
export const secretKeys = (limit: number) =>
  parsed<SecretKeys>((text) => {
    const given = itemsOf(text);
    const [first, ...others] = given.map(secretKey).filter((key) => key !== null);
    const count = others.length + 1;
    if (first === undefined || count < given.length || count > limit || new Set(given).size < count) return null;
    return [first, ...others];
  });

/** Ids with the SHA-256 of a secret each. An id may have several secrets, so that one can be replaced by another. */
export const pageServers = (limit: number) =>
  parsed<readonly PageServer[]>((text) => {
    const servers = itemsOf(text).map((item) => {
      const [, id, hash = ''] = /^([\w.-]{1,64}):([\w-]+)$/.exec(item) ?? [];
      const secretHash = secretKey(hash);
      return id === undefined || secretHash === null ? null : { id, secretHash };
    });
    const valid = servers.filter((server) => server !== null);
    return valid.length === servers.length && valid.length <= limit ? valid : null;
  });

/** RFC 6265 §4.1.1 `path-value`, visible characters only. */
export const cookiePath = v.pipe(v.string(), v.regex(/^\/[!-+\--:<-~]*$/));

/** `StringOrURI` (RFC 7519 §2). Short, since the refresh token has to fit into a cookie. */
export const stringOrUri = v.pipe(
  v.string(),
  v.regex(/^[!-~]{1,200}$/),
  v.check((text) => !text.includes(':') || URL.canParse(text)),
);
