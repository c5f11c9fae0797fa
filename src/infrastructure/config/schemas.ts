import { isIP } from 'node:net';
import * as v from 'valibot';
import { parseDuration } from '../duration.ts';

/**
 * The forms of single variables: from text to what the service uses. Their issues carry no message of their own, since
 * valibot's would repeat the value; what a variable expects stands in its row of `variables.ts`.
 */

const parsed = <T>(parse: (text: string) => T | null) =>
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
export const durationOrZero = parsed(parseDuration);

export const host = v.pipe(
  v.string(),
  v.check((text) => isIP(text) !== 0 || /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})$/.test(text)),
);

/** `off`, `port` or `address:port`; an IPv6 address in brackets. */
export const metrics = parsed<{ host: string; port: number } | 'off'>((text) => {
  if (text === 'off') return 'off';
  const [, host = '127.0.0.1', port] = /^(?:(?:\[?)([0-9A-Fa-f.:]+?)\]?:)?([1-9]\d{0,4})$/.exec(text) ?? [];
  return isIP(host) !== 0 && Number(port) <= 65_535 ? { host, port: Number(port) } : null;
});

/** Without a NUL, which no path can hold. */
export const path = v.pipe(
  v.string(),
  v.check((text) => !text.includes('\0')),
);

const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:';

/** An http(s) URL without credentials, query and fragment; a trailing slash is dropped. */
export const baseUrl = parsed((text) => {
  const url = URL.parse(text);
  if (url === null || !isHttp(url) || /[?#*\s]/.test(text) || url.username !== '' || url.password !== '') return null;
  // Only the first slash of a run can begin the match: so the time is linear in the length.
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
});

/** Exactly as a browser writes it into `Origin` (RFC 6454 §6.2). `*` would pass as part of a host name. */
const isOrigin = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && isHttp(url) && url.origin === text && !text.includes('*');
};

export const origins = v.pipe(
  v.string(),
  v.transform((text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  ),
  v.everyItem(isOrigin),
);

/** `requests/seconds` or `off`; the window in milliseconds. */
export const rateLimit = parsed<{ requests: number; window: number } | 'off'>((text) => {
  if (text === 'off') return 'off';
  const [, requests, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,4})$/.exec(text) ?? [];
  if (requests === undefined || seconds === undefined || Number(seconds) > 86_400) return null;
  return { requests: Number(requests), window: Number(seconds) * 1_000 };
});

const threshold = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
export const thresholds = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({ warn: threshold, error: threshold }),
  v.check(({ warn, error }) => warn <= error),
);

/** Whether it is a URL that the drivers read alike: nothing of it is dropped, and its parts can be decoded. */
const isUrlOf = (text: string, protocols: readonly string[]): boolean =>
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

export const databaseUrl = v.pipe(
  v.string(),
  v.check((text) => text === 'memory:' || isUrlOf(text, ['postgres:', 'postgresql:'])),
);

/** One server, or several nodes of a cluster: alike but for their hosts, and without a number of a database. */
export const redisUrls = parsed<readonly string[]>((text) => {
  const urls = text.split(',').map((url) => url.trim());
  if (!urls.every((url) => isUrlOf(url, ['redis:', 'rediss:']))) return null;
  if (urls.length === 1) return urls;
  const parts = urls.map((url) => new URL(url));
  const ways = new Set(parts.map(({ protocol, username, password }) => [protocol, username, password].join(' ')));
  return ways.size === 1 && parts.every(({ pathname }) => /^\/?$/.test(pathname)) ? urls : null;
});

/** RFC 6265 §4.1.1 `path-value`, visible characters only. */
export const cookiePath = v.pipe(v.string(), v.regex(/^\/[!-+\--:<-~]*$/));

/** RFC 7519 §2 `StringOrURI`; short, since the refresh token has to fit into a cookie. */
export const stringOrUri = v.pipe(
  v.string(),
  v.regex(/^[!-~]{1,200}$/),
  v.check((text) => !text.includes(':') || URL.canParse(text)),
);
