import cors from '@koa/cors';
import type { Middleware } from 'koa';
import { httpFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { REQUEST_ID_HEADER } from './request-scope.ts';

/** SPEC "CORS response headers", with the names of more headers. */
const headersWith = (names: readonly string[]) => ({
  'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE, PATCH, OPTIONS',
  'Access-Control-Allow-Headers': ['Content-Type', 'Authorization', REQUEST_ID_HEADER, ...names].join(', '),
  'Access-Control-Allow-Credentials': 'true',
  'Access-Control-Max-Age': '86400',
});

/** The serialized form (RFC 6454 §6.2), bounded for the log. */
const ORIGIN = /^(?:null|[a-z][a-z\d+.-]{0,30}:\/\/[\w.[\]:-]{1,100})$/i;
const loggable = (origin: string): string => (ORIGIN.test(origin) ? origin : '(malformed)');

/** Stage 5. SPEC "Cross-origin rules". */
export const crossOrigin = ({ allowedOrigins, allowedOriginsSetting, allowedHeaders }: HttpDeps): Middleware => {
  const headers = headersWith(allowedHeaders);
  const allowed = new Set(allowedOrigins);
  const setOrigin = cors({
    origin: (ctx) => ctx.get('Origin'),
    allowMethods: headers['Access-Control-Allow-Methods'],
    allowHeaders: headers['Access-Control-Allow-Headers'],
    exposeHeaders: [REQUEST_ID_HEADER, 'Retry-After', 'WWW-Authenticate'],
    keepHeadersOnError: false,
  });
  return function crossOrigin(ctx, next) {
    const origin = ctx.get('Origin');
    ctx.set('Vary', 'Origin');
    if (origin === '' && ctx.method !== 'OPTIONS') return next();
    if (origin !== '' && !allowed.has(origin))
      throw httpFailure(403, { reason: `origin ${loggable(origin)} is not in ${allowedOriginsSetting}` });
    ctx.set(headers);
    // The library ignores an OPTIONS request without Access-Control-Request-Method.
    if (origin !== '') ctx.set('Access-Control-Allow-Origin', origin);
    return setOrigin(ctx, async () => {
      if (ctx.method === 'OPTIONS') ctx.status = 204;
      else await next();
    });
  };
};
