import { AsyncLocalStorage } from 'node:async_hooks';
import { isIP, Socket } from 'node:net';
import cors from '@koa/cors';
import { parseCookie } from 'cookie';
import type { Context, Middleware } from 'koa';
import helmet from 'koa-helmet';
import { runInTrace, type Trace, traceOfRequest } from '../../tracing/spans.ts';
import { httpFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { IncomingMessage, ServerResponse } from '../node-http.ts';
import { COOKIE_NAMES, COOKIE_PREFIXES } from '../request/cookies.ts';

/** Stages 1 to 5 of SPEC "Request processing", which come before the router. */

/** The default for responses: they may load nothing, and no page may frame them. Pages replace the policy by their own. */
const setSecurityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] },
  },
  frameguard: { action: 'deny' },
});

/** helmet is called once, since it sets the same headers on every response. It uses only these two members of a context. */
const sample = new ServerResponse(new IncomingMessage(new Socket()));
setSecurityHeaders({ req: sample.req, res: sample } as Context, async () => undefined);
export const SECURITY_HEADERS = sample.getHeaderNames().map((name) => [name, `${sample.getHeader(name)}`] as const);

/** Stage 1. */
export const securityHeaders: Middleware = ({ res }, next) => {
  for (const [name, value] of SECURITY_HEADERS) res.setHeader(name, value);
  return next();
};

/** A browser may send several cookies of one name, one for each domain and path. Those beyond this number are ignored. */
const MAX_COOKIES_OF_NAME = 8;

/** The name in a `name=value` of the `Cookie` header: one of `COOKIE_NAMES`, with or without a prefix. */
const COOKIE_PAIR = new RegExp(`^[ \\t]*((?:${COOKIE_PREFIXES.join('|')})?(?:${COOKIE_NAMES.join('|')}))[ \\t]*=`);

const NO_COOKIES: ReadonlyMap<string, readonly string[]> = new Map();

/** Stage 2. It runs before the rate limit, so it must take little time, and parses only cookies that the service reads (ADR 0002). */
export const cookieParsing: Middleware = (ctx, next) => {
  const header = ctx.get('cookie');
  ctx.request.cookies = header === '' ? NO_COOKIES : parseCookies(header);
  return next();
};

/** Parses one `name=value` at a time, since the library keeps only one cookie of each name. */
const parseCookies = (header: string): ReadonlyMap<string, readonly string[]> => {
  const cookies = new Map<string, string[]>();
  for (const pair of header.split(';')) {
    const name = COOKIE_PAIR.exec(pair)?.[1] ?? '';
    const values = cookies.get(name) ?? [];
    if (name !== '' && values.length < MAX_COOKIES_OF_NAME)
      cookies.set(name, [...values, parseCookie(pair)[name] ?? '']);
  }
  return cookies;
};

/** All values of a header. `headersDistinct` of Node.js is not used: some releases throw for the header `__proto__`. @param name in lower case */
export const headerValues = ({ rawHeaders }: Context['req'], name: string): string[] =>
  rawHeaders.filter((_value, at) => at % 2 === 1 && isNamed(rawHeaders[at - 1], name));
const isNamed = (text = '', name: string): boolean => text.length === name.length && text.toLowerCase() === name;

export const REQUEST_ID_HEADER = 'svc-request-id';
/** A request id that the service takes over from the client: printable ASCII, and short enough for the log. */
const REUSABLE_ID = /^[\x20-\x7e]{1,128}$/;

/** Stage 3. */
export const requestPreprocessing = ({ ids, version }: HttpDeps): Middleware =>
  function requestPreprocessing(ctx, next) {
    const sentId = ctx.get(REQUEST_ID_HEADER);
    ctx.request.id = REUSABLE_ID.test(sentId) ? sentId : ids.next();
    ctx.request.trace = traceOfRequest(ctx.get('traceparent'));
    ctx.request.version = version;
    ctx.res.setHeader(REQUEST_ID_HEADER, ctx.request.id);
    return next();
  };

type RequestScope = {
  readonly requestId: string;
  readonly trace: Trace;
  readonly time: number;
  readonly version: string;
};

const requestScopes = new AsyncLocalStorage<RequestScope>();

/** The request that the running code handles; `undefined` outside of stages 5 to 12. */
export const currentRequest = (): RequestScope | undefined => requestScopes.getStore();

export const idsOfRequest = () => {
  const { requestId, trace } = currentRequest() ?? {};
  return { requestId, traceId: trace?.traceId };
};

/** Stage 4. In stages 5 to 12, all code can read the ids of the request by `currentRequest`. Stage 13 surrounds this stage, so it cannot. */
export const requestScope = ({ clock }: HttpDeps): Middleware =>
  function requestScope({ request: { id, trace, version } }, next) {
    const scope = { requestId: id, trace, time: clock.now(), version };
    return runInTrace(trace, () => requestScopes.run(scope, next));
  };

/** An origin in its serialized form (RFC 6454 §6.2), short enough for the log. */
const SERIALIZED_ORIGIN = /^(?:null|[a-z][a-z\d+.-]{0,30}:\/\/[\w.[\]:-]{1,100})$/i;
const loggableOrigin = (origin: string): string => (SERIALIZED_ORIGIN.test(origin) ? origin : '(malformed)');

/**
 * Whether the `Host` of a request is allowed, with any port, since a tunnel may use another port. This prevents DNS rebinding: an attacker lets a
 * host name of his own resolve to this service, so requests of his pages have this name as their `Host`, and no IP address or `localhost`.
 */
const isAllowedHost = (host: string, hosts: readonly string[]): boolean => {
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  return name === 'localhost' || hosts.includes(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
};

/**
 * The header `Origin`; empty if there is none, or if it is `null` for a page of the service itself. Browsers send `Origin: null` with a form of a
 * page under `no-referrer`: then `Sec-Fetch-Site`, which no page can set, tells whether the page has the origin of the service.
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
  const allowedSet = new Set(allowedOrigins);
  const allowMethods = 'GET, POST, PUT, DELETE, PATCH, OPTIONS';
  const allowHeaders = ['Content-Type', 'Authorization', REQUEST_ID_HEADER, ...allowedHeaders].join(', ');
  const maxAge = '86400';
  const setCorsHeaders = cors({
    origin: (ctx) => {
      const origin = originOfPage(ctx);
      if (origin === '' || allowedSet.has(origin)) return origin;
      throw httpFailure(403, { reason: `origin ${loggableOrigin(origin)} is not in ${allowedOriginsSetting}` });
    },
    credentials: true,
    allowMethods,
    allowHeaders,
    maxAge,
    exposeHeaders: [REQUEST_ID_HEADER, 'Retry-After', 'WWW-Authenticate'],
    keepHeadersOnError: false,
  });
  /** The library sets most of these headers only for preflights. SPEC "Cross-origin rules" wants all of them for every allowed origin. */
  const corsHeaders = {
    'Access-Control-Allow-Methods': allowMethods,
    'Access-Control-Allow-Headers': allowHeaders,
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Max-Age': maxAge,
  };
  return function crossOrigin(ctx, next) {
    if (hosts !== undefined && !isAllowedHost(ctx.get('Host'), hosts))
      throw httpFailure(403, { reason: 'the Host is another one', level: 'warn' });
    if (ctx.method === 'POST' && postedCallbacks?.has(ctx.url)) return next();
    const origin = originOfPage(ctx);
    if (origin === '' && ctx.method !== 'OPTIONS') {
      // The library would set the same header, but take longer.
      ctx.res.setHeader('Vary', 'Origin');
      return next();
    }
    return setCorsHeaders(ctx, async () => {
      ctx.set(corsHeaders);
      // The library does not set this header for an OPTIONS that is no preflight.
      if (origin !== '') ctx.set('Access-Control-Allow-Origin', origin);
      if (ctx.method === 'OPTIONS') ctx.status = 204;
      else await next();
    });
  };
};
