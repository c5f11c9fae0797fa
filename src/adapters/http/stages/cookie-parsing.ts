import type { IncomingMessage } from 'node:http';
import { parseCookie } from 'cookie';
import type { Middleware } from 'koa';
import { COOKIES, PREFIXES } from '../request/cookies.ts';

/** A browser may send several cookies of one name, one for each domain and path. Those after the first eight are ignored. */
const MAX_VALUES = 8;

/** The pairs of the cookies that the service reads. Linear in the header's length: blanks are scanned at most twice. */
const PAIRS = new RegExp(`(?:^|;)([ \\t]*((?:${PREFIXES.join('|')})?(?:${COOKIES.join('|')}))[ \\t]*=[^;]*)`, 'g');

const NO_COOKIES: ReadonlyMap<string, readonly string[]> = new Map();

/** Stage 2. Ignores cookies of other names, since it runs before the rate limit. ADR 0002. */
export const cookieParsing = (): Middleware =>
  function cookieParsing(ctx, next) {
    const header = ctx.get('Cookie');
    ctx.request.cookies = header === '' ? NO_COOKIES : cookiesIn(header);
    return next();
  };

/** Parses one pair at a time, since the library keeps one cookie of each name. */
const cookiesIn = (header: string): ReadonlyMap<string, readonly string[]> => {
  const cookies = new Map<string, string[]>();
  for (const [, pair = '', name = ''] of header.matchAll(PAIRS)) {
    const values = cookies.get(name) ?? [];
    if (values.length < MAX_VALUES) cookies.set(name, [...values, parseCookie(pair)[name] ?? '']);
  }
  return cookies;
};

/**
 * The values of all header lines with a name. Not from `headersDistinct`, which throws in some releases of Node for a header called
 * `__proto__`.
 * @param name in lower case.
 */
export const headerValues = ({ rawHeaders }: IncomingMessage, name: string): string[] =>
  rawHeaders.filter((_value, at) => at % 2 === 1 && isNamed(rawHeaders[at - 1], name));

const isNamed = (text: string | undefined, name: string): boolean =>
  text?.length === name.length && text.toLowerCase() === name;
