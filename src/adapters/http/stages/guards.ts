import { hash, timingSafeEqual } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Context, Middleware } from 'koa';
import ratelimit from 'koa-ratelimit';
import type { AdmitOperator } from '../../../application/ports/proofs.ts';
import { AppError } from '../../../domain/errors/app-error.ts';
import { isScope, type Operator, type Scope } from '../../../domain/operator.ts';
import { systemClock } from '../../clock/system.ts';
import type { Counts } from '../../limits/counts.ts';
import { HttpFailure } from '../errors/exceptions.ts';
import type { HttpDeps, RateLimit } from '../http-deps.ts';
import { clientKey, presentedProof } from '../request/client.ts';
import type { PageServer } from '../request/settings.ts';
import type { Route } from '../routing/define-route.ts';
import { headerValues } from './arrival.ts';

/** RFC 6750 §2.1. The letter case of the scheme does not matter (RFC 9110 §11.1). */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;
/** RFC 9449 §7.1. */
const DPOP = new RegExp(BEARER.source.replace('Bearer', 'DPoP'), 'i');
const ANY_TOKEN = /^(?:Bearer|DPoP) +\S/i;
/** RFC 7617 §2. */
const BASIC = /^Basic +([A-Za-z0-9+/]{1,400}={0,2}) *$/i;

/** The value of `WWW-Authenticate` after a wrong DPoP proof (RFC 9449 §7.1). */
const PROOF_CHALLENGE = 'DPoP error="invalid_dpop_proof", algs="ES256"';

const MALFORMED_HEADER = { ok: false, reason: 'malformed Authorization header' } as const;

/** Joins several `Authorization` headers, which makes them malformed: else a proxy could check one of them, and the service read another. */
const authorizationOf = ({ req }: Context): string => headerValues(req, 'authorization').join(', ');

/**
 * Stage 7. SPEC "Route guard". It verifies the token. It asks whether the session is live only for a step-up, and for visitors of pages: otherwise
 * that is left to the handler (ADR 0004). In the back office, it admits programs by assertions, and people to the pages (ADR 0031).
 */
export const authenticationGuard = (
  { auth, stepUp, visitor, response: { identifies } }: Route,
  { authenticate, assertSteppedUp, visitorToken, admitOperator, admitPerson, clock, baseUrl }: HttpDeps,
): Middleware => {
  const target = { baseUrl, isOfGateway: identifies === true };
  const identify = async (ctx: Context): Promise<void> => {
    if (isScope(auth)) {
      const operator = visitor ? await admitPerson?.(ctx) : await authenticateProgram(ctx, clock.now(), admitOperator);
      ctx.state.operator = requireScope(auth, operator);
      return;
    }
    const header = visitor ? '' : authorizationOf(ctx);
    const boundToken = DPOP.exec(header)?.[1];
    const token = visitor ? await visitorToken(ctx, auth) : (boundToken ?? BEARER.exec(header)?.[1]);
    const proof = boundToken === undefined ? null : presentedProof(ctx, boundToken, target);
    const verified = token === undefined ? MALFORMED_HEADER : await authenticate(token, proof);
    if (verified.ok) {
      const { claims, sessionId } = verified.token;
      ctx.request.jwtClaim = claims;
      ctx.request.caller = { userId: claims.sub, sessionId };
      if (stepUp) await assertSteppedUp(verified.token, stepUp);
    } else if (auth === 'required')
      throw ANY_TOKEN.test(header) ? refusedToken(verified.reason) : new AppError('AUTH_TOKEN_MISSING');
  };
  return function authenticationGuard(ctx, next) {
    return auth === 'public' ? next() : identify(ctx).then(next);
  };
};

/** After a wrong DPoP proof, the challenge tells the client to sign another proof. Without this challenge, clients renew the token. */
const refusedToken = (reason: string): AppError =>
  reason.startsWith('proof_')
    ? new HttpFailure('AUTH_TOKEN_INVALID', { reason, headers: { 'WWW-Authenticate': PROOF_CHALLENGE } })
    : new AppError('AUTH_TOKEN_INVALID', { reason });

const authenticateProgram = async (ctx: Context, now: number, admit?: AdmitOperator): Promise<Operator> => {
  const header = authorizationOf(ctx);
  const assertion = BEARER.exec(header)?.[1];
  if (!ANY_TOKEN.test(header))
    throw new AppError('AUTH_TOKEN_MISSING', { message: 'An assertion of a program is required.' });
  const admission = assertion === undefined ? undefined : await admit?.(assertion, now);
  if (!admission?.ok) {
    const reason = admission?.problem ?? MALFORMED_HEADER.reason;
    throw new AppError('AUTH_TOKEN_INVALID', { reason, message: `The assertion is not valid: ${reason}.` });
  }
  return admission.operator;
};

const requireScope = (scope: Scope, operator: Operator | undefined): Operator => {
  if (operator?.scopes.includes(scope)) return operator;
  const reason = `${operator?.name} lacks the scope ${scope}`;
  const message = `It needs the scope ${scope}.`;
  throw new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 403, level: 'warn', reason, message });
};

/** Whether a request has the id and the secret of a page server. The time of the comparison does not depend on the secret. */
const isPageServer = (ctx: Context, pageServers: readonly PageServer[]): boolean => {
  const [, encoded = ''] = BASIC.exec(authorizationOf(ctx)) ?? [];
  const [, id, secret = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  const presentedHash = hash('sha256', secret, 'buffer');
  return pageServers.some((server) => server.id === id && timingSafeEqual(server.secretHash, presentedHash));
};

/** It runs before the rate limit, so that the limit counts each visitor of a page server by the visitor's address. */
export const recognisePageServer = (pageServers: readonly PageServer[]): Middleware =>
  function recognisePageServer(ctx, next) {
    if (isPageServer(ctx, pageServers)) ctx.state.pageServer = { visitor: ctx.get('X-Visitor-Address') };
    return next();
  };

const USER_WINDOW = 60_000;

/** The middlewares that limit the requests to a route, and throw 429 with `Retry-After`. Requests are counted by the name of the route. */
export const rateLimits = ({ rateLimits: tiers, counts }: Pick<HttpDeps, 'rateLimits' | 'counts'>) => {
  const redis = redisFacade(counts);
  const limiter = (limit: RateLimit, namespace: string, id: (ctx: Context) => string): Middleware[] =>
    limit === null
      ? []
      : [
          ratelimit({
            driver: 'redis',
            db: redis,
            duration: limit.window,
            max: limit.requests,
            namespace,
            id,
            disableHeader: true,
            throw: true,
          }),
        ];
  return ({ name, throttle, requestsPerUser }: Route) => ({
    /** Stage 6: counts requests of a client, by `clientKey` (SPEC "Rate limiting"). */
    perClient: limiter(throttle === 'none' ? null : tiers[throttle], `tandem:requests:${throttle}:${name}`, clientKey),
    /** Counts requests of a user or an operator. It runs after the guard. */
    perUser:
      requestsPerUser === undefined
        ? []
        : limiter({ requests: requestsPerUser, window: USER_WINDOW }, `tandem:requests:user:${name}`, userKey),
  });
};

/** `unknown` cannot happen: only routes with `auth: 'required'` or a scope have `requestsPerUser`. */
const userKey = ({ request, state }: Context): string => request.jwtClaim?.sub ?? state.operator?.name ?? 'unknown';

/** The only command of Redis that koa-ratelimit calls. @returns `left`: requests that remain, including this one; `end`: of the window, in epoch seconds */
type RateLimiterCommand = {
  ratelimiter(key: string, now: number, window: number, max: number): Promise<[left: number, end: number, max: number]>;
};

/** Takes the place of Redis in koa-ratelimit, whose script uses each instance's clock: an instance whose clock is ahead would remove others' counts. */
const redisFacade = (counts: Pick<Counts, 'countRequest'>): Redis => {
  const facade: RateLimiterCommand = {
    async ratelimiter(key, _now, window, max) {
      const { count, left } = await counts.countRequest(key, window);
      // koa-ratelimit subtracts the present time from `end`, and rounds down.
      const end = Math.ceil(systemClock.now() / 1000) + Math.ceil(left / 1000);
      return [Math.max(0, max + 1 - count), end, max];
    },
  };
  return facade as unknown as Redis;
};
