import cors from '@koa/cors';
import type { Middleware } from 'koa';
import { httpFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { REQUEST_ID_HEADER } from './request-scope.ts';

/** The serialized form (RFC 6454 §6.2), bounded for the log. */
const ORIGIN = /^(?:null|[a-z][a-z\d+.-]{0,30}:\/\/[\w.[\]:-]{1,100})$/i;
const loggable = (origin: string): string => (ORIGIN.test(origin) ? origin : '(malformed)');

/** Stage 5. SPEC "Cross-origin rules". */
export const crossOrigin = ({ allowedOrigins, allowedOriginsSetting, allowedHeaders }: HttpDeps): Middleware => {
  const allowed = new Set(allowedOrigins);
  const allowMethods = 'GET, POST, PUT, DELETE, PATCH, OPTIONS';
  const allowHeaders = ['Content-Type', 'Authorization', REQUEST_ID_HEADER, ...allowedHeaders].join(', ');
  const maxAge = '86400';
  const setHeaders = cors({
    origin: (ctx) => {
      const origin = ctx.get('Origin');
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
  /** SPEC "CORS response headers" also has these where there is no preflight, to which the library restricts them. */
  const ofEveryAllowed = {
    'Access-Control-Allow-Methods': allowMethods,
    'Access-Control-Allow-Headers': allowHeaders,
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Max-Age': maxAge,
  };
  return function crossOrigin(ctx, next) {
    return setHeaders(ctx, async () => {
      const origin = ctx.get('Origin');
      if (ctx.method === 'OPTIONS' || origin !== '') ctx.set(ofEveryAllowed);
      // The library leaves it out where an OPTIONS is no preflight.
      if (origin !== '') ctx.set('Access-Control-Allow-Origin', origin);
      if (ctx.method === 'OPTIONS') ctx.status = 204;
      else await next();
    });
  };
};
