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
import type { HttpDeps, Limit } from '../http-deps.ts';
import { clientKey, presentedProof } from '../request/client.ts';
import type { PageServer } from '../request/settings.ts';
import type { Route } from '../routing/define-route.ts';
import { headerValues } from './arrival.ts';

/** RFC 6750 §2.1, and RFC 9110 §11.1 for the letter case of the scheme. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;
/** RFC 9449 §7.1. */
const DPOP = new RegExp(BEARER.source.replace('Bearer', 'DPoP'), 'i');
const WITH_TOKEN = /^(?:Bearer|DPoP) +\S/i;
/** RFC 7617 §2. */
const BASIC = /^Basic +([A-Za-z0-9+/]{1,400}={0,2}) *$/i;

/** RFC 9449 §7.1. */
const PROOF_CHALLENGE = 'DPoP error="invalid_dpop_proof", algs="ES256"';

const MALFORMED = { ok: false, reason: 'malformed Authorization header' } as const;

/** Joins several headers, so that they are malformed: a proxy may have checked another one than the service would read. */
const authorizationOf = ({ req }: Context): string => headerValues(req, 'authorization').join(', ');

/**
 * Stage 7. SPEC "Route guard". Verifies the token only: use cases check whether its session is live (ADR 0004), unless the route has a step-up. At the
 * back office, it admits programs by assertions, and people to the pages (ADR 0031).
 */
export const authenticationGuard = (
  { auth, stepUp, visitor, response: { identifies } }: Route,
  { authenticate, assertSteppedUp, visitorToken, admitOperator, admitPerson, clock, baseUrl }: HttpDeps,
): Middleware => {
  const target = { baseUrl, isOfGateway: identifies === true };
  const admit = async (ctx: Context): Promise<void> => {
    if (isScope(auth)) {
      const operator = visitor ? await admitPerson?.(ctx) : await programIn(ctx, clock.now(), admitOperator);
      ctx.state.operator = withScope(auth, operator);
      return;
    }
    const header = visitor ? '' : authorizationOf(ctx);
    const bound = DPOP.exec(header)?.[1];
    const token = visitor ? await visitorToken(ctx, auth) : (bound ?? BEARER.exec(header)?.[1]);
    const proof = bound === undefined ? null : presentedProof(ctx, bound, target);
    const verified = token === undefined ? MALFORMED : await authenticate(token, proof);
    if (verified.ok) {
      const { claims, sessionId } = verified.token;
      ctx.request.jwtClaim = claims;
      ctx.request.caller = { userId: claims.sub, sessionId };
      if (stepUp) await assertSteppedUp(verified.token, stepUp);
    } else if (auth === 'required')
      throw WITH_TOKEN.test(header) ? refusedToken(verified.reason) : new AppError('AUTH_TOKEN_MISSING');
  };
  return function authenticationGuard(ctx, next) {
    return auth === 'public' ? next() : admit(ctx).then(next);
  };
};

/** After a wrong proof, the challenge tells the client to sign another one, and not to renew the token. */
const refusedToken = (reason: string): AppError =>
  reason.startsWith('proof_')
    ? new HttpFailure('AUTH_TOKEN_INVALID', { reason, headers: { 'WWW-Authenticate': PROOF_CHALLENGE } })
    : new AppError('AUTH_TOKEN_INVALID', { reason });

/** @throws AppError AUTH_TOKEN_MISSING, AUTH_TOKEN_INVALID */
const programIn = async (ctx: Context, now: number, admit?: AdmitOperator): Promise<Operator> => {
  const header = authorizationOf(ctx);
  const assertion = BEARER.exec(header)?.[1];
  if (!WITH_TOKEN.test(header))
    throw new AppError('AUTH_TOKEN_MISSING', { message: 'An assertion of a program is required.' });
  const admitted = assertion === undefined ? undefined : await admit?.(assertion, now);
  if (!admitted?.ok) {
    const reason = admitted?.problem ?? MALFORMED.reason;
    throw new AppError('AUTH_TOKEN_INVALID', { reason, message: `The assertion is not valid: ${reason}.` });
  }
  return admitted.operator;
};

/** @throws AppError 403 */
const withScope = (scope: Scope, operator: Operator | undefined): Operator => {
  if (operator?.scopes.includes(scope)) return operator;
  const reason = `${operator?.name} lacks the scope ${scope}`;
  const message = `It needs the scope ${scope}.`;
  throw new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 403, level: 'warn', reason, message });
};

/** Whether a request has the id and the secret of a page server. Takes the same time for every secret. */
const isPageServer = (ctx: Context, known: readonly PageServer[]): boolean => {
  const [, encoded = ''] = BASIC.exec(authorizationOf(ctx)) ?? [];
  const [, id, secret = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  const presented = hash('sha256', secret, 'buffer');
  return known.some((server) => server.id === id && timingSafeEqual(server.secretHash, presented));
};

/** Runs before the rate limit, which then counts the visitors of a page server by their own addresses. */
export const recognisePageServer = (known: readonly PageServer[]): Middleware =>
  function recognisePageServer(ctx, next) {
    if (isPageServer(ctx, known)) ctx.state.pageServer = { visitor: ctx.get('X-Visitor-Address') };
    return next();
  };

const USER_WINDOW = 60_000;

/** The middleware that limits a route. Each route has its own counts. They throw 429 with `Retry-After`. */
export const rateLimits = ({ rateLimits: tiers, counts }: Pick<HttpDeps, 'rateLimits' | 'counts'>) => {
  const db = databaseOf(counts);
  const stage = (limit: Limit, namespace: string, id: (ctx: Context) => string): Middleware[] =>
    limit === null
      ? []
      : [
          ratelimit({
            driver: 'redis',
            db,
            duration: limit.window,
            max: limit.requests,
            namespace,
            id,
            disableHeader: true,
            throw: true,
          }),
        ];
  return ({ name, throttle, requestsPerUser }: Route) => ({
    /** Stage 6, before the user is known. SPEC "Rate limiting". */
    ofClient: stage(throttle === 'none' ? null : tiers[throttle], `tandem:requests:${throttle}:${name}`, clientKey),
    /** After the guard. */
    ofUser:
      requestsPerUser === undefined
        ? []
        : stage({ requests: requestsPerUser, window: USER_WINDOW }, `tandem:requests:user:${name}`, userKey),
  });
};

/** Only routes that require a token, or an assertion, count users. */
const userKey = ({ request, state }: Context): string => request.jwtClaim?.sub ?? state.operator?.name ?? 'unknown';

/** The only command of the driver. @returns how many requests are left with this one, the end of the window in epoch seconds, and the limit */
type Database = {
  ratelimiter(key: string, now: number, window: number, max: number): Promise<[left: number, end: number, max: number]>;
};

/** In place of Redis in koa-ratelimit. Its own script uses the clock of each instance: one that is ahead would remove the counts of others. */
const databaseOf = (counts: Pick<Counts, 'countRequest'>): Redis => {
  const database: Database = {
    async ratelimiter(key, _now, window, max) {
      const { count, left } = await counts.countRequest(key, window);
      // The middleware subtracts the time, and rounds down.
      const end = Math.ceil(systemClock.now() / 1000) + Math.ceil(left / 1000);
      return [Math.max(0, max + 1 - count), end, max];
    },
  };
  // The driver calls nothing else.
  return database as unknown as Redis;
};
