import { isIP, isIPv4 } from 'node:net';
import { hostOf } from '../../adapters/redis/url.ts';
import { type Format, formatOf, itemsOf } from './formats.ts';

/** Whether traffic to a host stays on this machine: to a loopback address, localhost and names below it, a Unix socket (a path), or an empty host. */
export const isLoopback = (host: string): boolean =>
  host === '' ||
  host.startsWith('/') ||
  /^(?:.+\.)?localhost$/i.test(host) ||
  host === '::1' ||
  (isIPv4(host) && host.startsWith('127.'));

/** Whether others might read traffic to a host. A name without a dot counts as private, since container networks have such names. */
export const isExposed = (host: string): boolean => !isLoopback(host) && (isIP(host) !== 0 || host.includes('.'));

/** Whether a URL is of another machine, and has `http:`. */
export const isPlainHttp = (text: string): boolean => {
  const url = new URL(text);
  return url.protocol === 'http:' && !isLoopback(hostOf(url));
};

const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:';

const httpUrl = (text: string, refused: RegExp): URL | undefined => {
  const url = URL.parse(text);
  const isFit = url !== null && isHttp(url) && !refused.test(text) && url.username === '' && url.password === '';
  return isFit ? url : undefined;
};

/** Trailing slashes are removed. */
export const baseUrl = formatOf('an http or https URL without credentials, query and fragment', (text) => {
  const url = httpUrl(text, /[?#*\s]/);
  // Because of the lookbehind, a match starts only at the first of several slashes, so the time is linear.
  return url && `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
});

export const pageUrl = formatOf(
  'an http or https URL without credentials and fragment',
  (text) => httpUrl(text, /[#\s]/)?.href,
);

export const supportUrl = formatOf(
  'an http or https URL without credentials and fragment, or mailto: with an address',
  (text) => (/^mailto:[^\s@?]+@[^\s@?]+$/.test(text) ? text : httpUrl(text, /[#\s]/)?.href),
);

/** A URL with `https:`, or on this machine also `http:`. `*` is refused, since the host of a logo becomes part of a Content-Security-Policy. */
const safeUrl = (noun: string) =>
  formatOf(`an https URL of ${noun}, or an http URL on this machine, without credentials and fragment`, (text) => {
    const url = httpUrl(text, /[#*\s]/);
    return url !== undefined && (url.protocol === 'https:' || isLoopback(hostOf(url))) ? url.href : undefined;
  });

export const logoUrl = safeUrl('a picture');
export const hookUrl = safeUrl('a hook');
export const issuerUrl = safeUrl('a provider');

/** Few enough that a header that lists origins, or names of headers, stays short. */
const MAX_ITEMS = 50;

const listOf = (expected: string, isItem: (text: string) => boolean): Format<readonly string[]> =>
  formatOf(expected, (text) => {
    const items = itemsOf(text).filter((item) => item !== '');
    return items.length <= MAX_ITEMS && items.every(isItem) ? items : undefined;
  });

/** Whether a browser sends this text as the Origin of a website (RFC 6454 §6.2). `*` is refused, since `URL` accepts it in a host. */
const isWebOrigin = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && isHttp(url) && url.origin === text && !text.includes('*');
};

/** The origin of an app or an extension, such as `capacitor://localhost`. */
const PROGRAM = /^[a-z][a-z\d+.-]{1,30}:\/\/[a-z\d._-]{1,100}(?::[1-9]\d{0,4})?$/;
/** Schemes of websites, schemes that pages of different authors share (any file of a device is a page of `file:`), and that of `ANDROID_APP`. */
const NO_PROGRAM = /^(?:https?|wss?|ftp|file|filesystem|about|blob|data|javascript|android):/;
/** The origin of an Android app (WebAuthn Level 3 §5.8.1), with the SHA-256 of the certificate that has signed the app. */
const ANDROID_APP = /^android:apk-key-hash:[\w-]{43}$/;

export const isOfProgram = (origin: string): boolean => !/^https?:/.test(origin);

export const origins = listOf(
  'origins such as https://app.example.com or capacitor://localhost, separated by commas, without a path and *; not null or file://, which pages of anybody have',
  (text) => isWebOrigin(text) || (PROGRAM.test(text) && !NO_PROGRAM.test(text)),
);

/** A link of an app with `https:`, or with a reversed domain name as its scheme (RFC 8252 §7.1, §7.2). */
const APP_LINK = /^(?:https:\/\/[\w.:-]+|[a-z][a-z\d+-]*(?:\.[a-z\d+-]+)+:)\/[\w./~-]*$/;

export const appLinks = listOf(
  'links such as https://app.example.com/signed-in or com.example.app:/signed-in, separated by commas, without a query',
  (text) => APP_LINK.test(text) && URL.parse(text)?.href === text,
);

export const passkeyOrigins = listOf(
  'origins such as https://app.example.com or android:apk-key-hash:… with 43 characters of base64url, separated by commas',
  (text) => isWebOrigin(text) || ANDROID_APP.test(text),
);

/** Android: a package and the SHA-256 of its certificate, as `keytool` prints it. Apple: a team and a bundle. */
const NATIVE_APP =
  /^(?:android:[A-Za-z]\w*(?:\.[A-Za-z]\w*)+(?::[\dA-F]{2}){32}|apple:[A-Z\d]{10}(?:\.[A-Za-z\d-]+)+)$/;

export const nativeApps = listOf(
  'apps such as android:com.example.app:14:6D:… with the 32 bytes of SHA-256, or apple:ABCDE12345.com.example.app, separated by commas',
  (text) => NATIVE_APP.test(text),
);

/** Names of headers (RFC 9110 §5.1). `*` is refused: in requests with credentials, it does not mean all headers (Fetch §3.3.5). */
export const headerNames = listOf(
  'names of headers such as traceparent, separated by commas, without *',
  (text) => text !== '*' && /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(text),
);
