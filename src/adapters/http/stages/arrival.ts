import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import cors from '@koa/cors';
import { parseCookie } from 'cookie';
import type { Context, Middleware } from 'koa';
import helmet from 'koa-helmet';
import { runInTrace, type Trace, traceOfRequest } from '../../tracing/spans.ts';
import { httpFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { COOKIES, PREFIXES } from '../request/cookies.ts';

/** Stages 1 to 5, which every request passes before its route is known. */

/** By default, a response may load nothing, and nothing may frame it. Pages have policies of their own. */
const setHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] },
  },
  frameguard: { action: 'deny' },
});

/** Stage 1. */
export const securityHeaders: Middleware = (ctx, next) => setHeaders(ctx, next);

/** A browser may send several cookies of one name, one for each domain and path. */
const MAX_COOKIES_OF_NAME = 8;

/** The name in a pair of the `Cookie` header, if the service reads it. */
const PAIR = new RegExp(`^[ \\t]*((?:${PREFIXES.join('|')})?(?:${COOKIES.join('|')}))[ \\t]*=`);

const NO_COOKIES: ReadonlyMap<string, readonly string[]> = new Map();

/** Stage 2. Ignores cookies of other names, since it runs before the rate limit (ADR 0002). */
export const cookieParsing: Middleware = (ctx, next) => {
  const header = ctx.get('cookie');
  ctx.request.cookies = header === '' ? NO_COOKIES : cookiesIn(header);
  return next();
};

/** Parses one pair at a time, since the library keeps one cookie of each name. */
const cookiesIn = (header: string): ReadonlyMap<string, readonly string[]> => {
  const cookies = new Map<string, string[]>();
  for (const pair of header.split(';')) {
    const name = PAIR.exec(pair)?.[1] ?? '';
    const values = cookies.get(name) ?? [];
    if (name !== '' && values.length < MAX_COOKIES_OF_NAME)
      cookies.set(name, [...values, parseCookie(pair)[name] ?? '']);
  }
  return cookies;
};

/** All values of a header. Not from `headersDistinct`, which throws in some releases of Node.js for `__proto__`. @param name in lower case */
export const headerValues = ({ rawHeaders }: IncomingMessage, name: string): string[] =>
  rawHeaders.filter((_value, at) => at % 2 === 1 && isNamed(rawHeaders[at - 1], name));
const isNamed = (given = '', name: string): boolean => given.length === name.length && given.toLowerCase() === name;

export const REQUEST_ID_HEADER = 'svc-request-id';
/** Printable ASCII of a length that suits the log. Any other value is replaced. */
const REUSABLE_ID = /^[\x20-\x7e]{1,128}$/;

/** Stage 3. */
export const requestPreprocessing = ({ ids, version }: HttpDeps): Middleware =>
  function requestPreprocessing(ctx, next) {
    const given = ctx.get(REQUEST_ID_HEADER);
    ctx.request.id = REUSABLE_ID.test(given) ? given : ids.next();
    ctx.request.trace = traceOfRequest(ctx.get('traceparent'));
    ctx.request.version = version;
    ctx.set(REQUEST_ID_HEADER, ctx.request.id);
    return next();
  };

type RequestScope = {
  readonly requestId: string;
  readonly trace: Trace;
  readonly time: number;
  readonly version: string;
};

const scopes = new AsyncLocalStorage<RequestScope>();

/** The request that the calling code belongs to, or `undefined` outside of a request. */
export const currentRequest = (): RequestScope | undefined => scopes.getStore();

export const idsOfRequest = () => {
  const { requestId, trace } = currentRequest() ?? {};
  return { requestId, traceId: trace?.traceId };
};

/** Stage 4. SPEC "Request processing": from here on, any code that runs for the request can read its ids. */
export const requestScope = ({ clock }: HttpDeps): Middleware =>
  function requestScope({ request: { id, trace, version } }, next) {
    const scope = { requestId: id, trace, time: clock.now(), version };
    return runInTrace(trace, () => scopes.run(scope, next));
  };

/** The serialized form (RFC 6454 §6.2), bounded for the log. */
const ORIGIN = /^(?:null|[a-z][a-z\d+.-]{0,30}:\/\/[\w.[\]:-]{1,100})$/i;
const loggable = (origin: string): string => (ORIGIN.test(origin) ? origin : '(malformed)');

/**
 * Whether a request is for one of these hosts, at any port, since a tunnel may have another one. This prevents DNS rebinding: the pages of
 * another host whose name was made to point here send that name. They cannot send an IP address or `localhost`.
 */
const isFor = (host: string, hosts: readonly string[]): boolean => {
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  return name === 'localhost' || hosts.includes(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
};

/**
 * The origin of the page that sends a request; empty: none, or the service itself. For a form of a page with `Referrer-Policy: no-referrer`,
 * browsers send `Origin: null`. `Sec-Fetch-Site`, which no page can set, tells that it is the same origin.
 */
export const originOfPage = (ctx: Context): string => {
  const origin = ctx.get('origin');
  return origin === 'null' && ctx.get('sec-fetch-site') === 'same-origin' ? '' : origin;
};

/** Stage 5. SPEC "Cross-origin rules". */
export const crossOrigin = ({
  allowedOrigins,
  allowedOriginsSetting,
  allowedHeaders,
  postedCallbacks,
  hosts,
}: HttpDeps): Middleware => {
  const allowed = new Set(allowedOrigins);
  const allowMethods = 'GET, POST, PUT, DELETE, PATCH, OPTIONS';
  const allowHeaders = ['Content-Type', 'Authorization', REQUEST_ID_HEADER, ...allowedHeaders].join(', ');
  const maxAge = '86400';
  const setCorsHeaders = cors({
    origin: (ctx) => {
      const origin = originOfPage(ctx);
      if (origin === '' || allowed.has(origin)) return origin;
      throw httpFailure(403, { reason: `origin ${loggable(origin)} is not in ${allowedOriginsSetting}` });
    },
    credentials: true,
    allowMethods,
    allowHeaders,
    maxAge,
    exposeHeaders: [REQUEST_ID_HEADER, 'Retry-After', 'WWW-Authenticate'],
    keepHeadersOnError: false,
  });
  /** The library sets these for preflights alone, SPEC "Cross-origin rules" for every allowed request. */
  const corsHeaders = {
    'Access-Control-Allow-Methods': allowMethods,
    'Access-Control-Allow-Headers': allowHeaders,
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Max-Age': maxAge,
  };
  return function crossOrigin(ctx, next) {
    if (hosts !== undefined && !isFor(ctx.get('Host'), hosts))
      throw httpFailure(403, { reason: 'the Host is another one', level: 'warn' });
    if (ctx.method === 'POST' && postedCallbacks?.has(ctx.url)) return next();
    const origin = originOfPage(ctx);
    if (origin === '' && ctx.method !== 'OPTIONS') {
      // The library would do the same, but takes longer.
      ctx.vary('Origin');
      return next();
    }
    return setCorsHeaders(ctx, async () => {
      ctx.set(corsHeaders);
      // The library omits this header from an OPTIONS that is no preflight.
      if (origin !== '') ctx.set('Access-Control-Allow-Origin', origin);
      if (ctx.method === 'OPTIONS') ctx.status = 204;
      else await next();
    });
  };
};
