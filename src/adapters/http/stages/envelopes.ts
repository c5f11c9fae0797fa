import type { Context, Middleware } from 'koa';
import * as v from 'valibot';
import type { Clock } from '../../../application/ports/clock-and-ids.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { monotonicTime } from '../../clock/system.ts';
import { isoTime } from '../../json/fields.ts';
import { etagOf, isForPerson, PAGE_CACHE_CONTROL, prefersHtml, respondWithHtml } from '../documents.ts';
import { asDeclared, errorHeaders, ResponseSerializationFailure, toAppError } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logError, logRequest } from '../logging/request-log.ts';
import { NO_STORE, type Route, type Unwrapped } from '../routing/define-route.ts';
import { REQUEST_ID_HEADER } from './arrival.ts';

type EnvelopeContext = {
  readonly requestId: string;
  readonly version: string;
  readonly user?: { readonly id: string; readonly username: string };
  /** The browser holds the key of the session that the request has opened or renewed (ADR 0006). */
  readonly binding?: 'browser';
  /** A page or an app holds it. */
  readonly deviceKey?: true;
};

/** The `type` of an error envelope, and the URL of `GET /errors/:code`. */
export const errorUri = (baseUrl: string, code: string): string => `${baseUrl}/errors/${code}`;

const timestamp = isoTime();

/** SPEC "Error envelope". */
export const errorEnvelopeOf = (
  error: AppError,
  context: EnvelopeContext,
  { baseUrl, clock }: { readonly baseUrl: string; readonly clock: Clock },
) => ({
  success: false,
  code: error.code,
  message: error.message,
  type: errorUri(baseUrl, error.code),
  timestamp: timestamp(clock.now()),
  context,
  details: error.details,
});

const contextOf = ({ request: { id, version, jwtClaim }, state: { binding } }: Context): EnvelopeContext => ({
  requestId: id,
  version,
  ...(jwtClaim && { user: { id: jwtClaim.user.id, username: jwtClaim.user.username } }),
  ...(binding === 'browser' && { binding }),
  ...(binding === 'device' && { deviceKey: true }),
});

/** Stage 11: removes what the response schema does not name. */
export const responseSerialization = ({ response }: Route): Middleware =>
  async function responseSerialization(ctx, next) {
    await next();
    const result = v.safeParse(response.data, ctx.state.payload);
    if (!result.success) throw new ResponseSerializationFailure(result.issues);
    ctx.state.payload = result.output;
  };

/** Stage 12. */
export const successEnvelope = ({ response: { status, unwrapped, page } }: Route, deps: HttpDeps): Middleware =>
  async function successEnvelope(ctx, next) {
    await next();
    ctx.status = ctx.state.status ?? status;
    if (ctx.state.location !== undefined) redirect(ctx, ctx.state.location);
    else if (unwrapped !== undefined) respondUnwrapped(ctx, unwrapped);
    else if (page !== undefined) await respondNegotiated(ctx, page, deps);
    else respondWrapped(ctx, deps);
    logRequest(ctx, deps);
  };

/** RFC 9110 §15.4.4: the client goes on with GET. */
const redirect = (ctx: Context, location: string): void => {
  ctx.status = 303;
  ctx.set({ Location: location, 'Cache-Control': NO_STORE });
  ctx.body = '';
  ctx.remove('Content-Type');
};

const JSON_TYPE = 'application/json; charset=utf-8';

/** SPEC "Success envelope". */
const respondWrapped = (ctx: Context, { clock }: HttpDeps): void => {
  ctx.set('Cache-Control', NO_STORE);
  ctx.set('Content-Type', JSON_TYPE);
  const data = ctx.state.payload;
  ctx.body = toJson({ success: true, data, timestamp: timestamp(clock.now()), context: contextOf(ctx) });
};

type Page = NonNullable<Route['response']['page']>;

const respondNegotiated = async (ctx: Context, page: Page, deps: HttpDeps): Promise<void> => {
  ctx.vary('Accept');
  if (prefersHtml(ctx)) {
    const text = await page(ctx.state.payload);
    ctx.etag = etagOf(text);
    allowCaching(ctx, PAGE_CACHE_CONTROL);
    respondWithHtml(ctx, text);
  } else {
    respondWrapped(ctx, deps);
    // Weak, since the envelope also contains the time and the id of the request.
    ctx.etag = `W/"${etagOf(toJson(ctx.state.payload))}"`;
  }
  respondIfUnchanged(ctx);
};

/** A page that sends COEP can frame only what sends it as well (HTML "Cross-origin embedder policies"). */
const EMBEDDABLE = {
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

const respondUnwrapped = (ctx: Context, unwrapped: Unwrapped): void => {
  const { type, cacheControl, embeddable, contentSecurityPolicy, referrerPolicy } = unwrapped;
  const { payload } = ctx.state;
  const text = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : toJson(payload);
  allowCaching(ctx, cacheControl);
  if (embeddable) ctx.set(EMBEDDABLE);
  // A cached document already has its tag.
  if (cacheControl !== NO_STORE && !ctx.response.get('ETag')) ctx.etag = etagOf(text);
  ctx.body = text;
  // Set last and without `ctx.type`, since Koa would add a charset.
  ctx.set('Content-Type', type);
  if (contentSecurityPolicy !== undefined) ctx.set('Content-Security-Policy', contentSecurityPolicy);
  if (referrerPolicy !== undefined) ctx.set('Referrer-Policy', referrerPolicy);
  respondIfUnchanged(ctx);
};

/** Removes the request id, since caches send the response to other clients (ADR 0013). */
const allowCaching = (ctx: Context, cacheControl: string): void => {
  ctx.set('Cache-Control', cacheControl);
  if (cacheControl !== NO_STORE) ctx.remove(REQUEST_ID_HEADER);
};

/**
 * Responds with 304 to a client that has the content (RFC 9110 §15.4.5). Koa would also check `If-Modified-Since`, which §13.1.3 forbids beside
 * a tag. Without an ETag, `If-None-Match: *` must not match.
 */
const respondIfUnchanged = (ctx: Context): void => {
  delete ctx.headers['if-modified-since'];
  if (ctx.response.get('ETag') && ctx.fresh) ctx.status = 304;
};

/** Koa would serialize after this stage, and its errors would bypass the envelope. A bigint, a cycle, or a `toJSON` that throws has no JSON form. */
const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ResponseSerializationFailure([{ expected: 'JSON' }], { cause });
  }
};

/** Stage 13: turns an exception of any stage into the error envelope, or into a page for people. */
export const errorEnvelope = (deps: HttpDeps): Middleware =>
  async function errorEnvelope(ctx, next) {
    ctx.state.arrivedAt = monotonicTime();
    try {
      await next();
    } catch (exception) {
      // Stages 1 and 2 run before stage 3 has set the request's id.
      ctx.request.id ??= deps.ids.next();
      ctx.request.version = deps.version;
      ctx.set(REQUEST_ID_HEADER, ctx.request.id);
      const error = asDeclared(ctx, toAppError(exception), deps);
      // The guard accepted the token, but a use case did not: the envelope must not name its user.
      if (error.code === 'AUTH_TOKEN_INVALID') delete ctx.request.jwtClaim;
      logError(ctx, error, deps);
      const location = (await ctx.state.route?.failed?.(ctx, error)) ?? null;
      if (location !== null) {
        redirect(ctx, location);
        logRequest(ctx, deps);
        return;
      }
      ctx.status = error.status;
      ctx.set({ 'Cache-Control': NO_STORE, ...errorHeaders(error) });
      if (isForPerson(ctx)) await respondWithPage(ctx, error, deps);
      else ctx.body = errorEnvelopeOf(error, contextOf(ctx), deps);
    }
    logRequest(ctx, deps);
  };

/** The paths of pages for users, and of their forms. In any letter case, like the router. */
const FOR_USERS = /^\/auth\//i;

const respondWithPage = async (ctx: Context, error: AppError, deps: HttpDeps): Promise<void> => {
  if (FOR_USERS.test(ctx.url)) {
    ctx.vary('Accept-Language');
    const { text, contentSecurityPolicy } = await deps.userFailure(ctx, error);
    respondWithHtml(ctx, text, contentSecurityPolicy);
  } else respondWithHtml(ctx, (await import('../pages/errors.ts')).failurePage(deps, error, ctx.request.id));
};
