import type { Context, Middleware } from 'koa';
import * as v from 'valibot';
import type { Clock } from '../../../application/ports/clock-and-ids.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { monotonicTime } from '../../clock/system.ts';
import { isoTime } from '../../json/fields.ts';
import { etagOf, isForPerson, PAGE_CACHE_CONTROL, prefersHtml, respondWithHtml } from '../documents.ts';
import { declaredError, errorHeaders, ResponseSerializationFailure, toAppError } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logError, logRequest } from '../logging/request-log.ts';
import { NO_STORE, type Route, type Unwrapped } from '../routing/define-route.ts';
import { REQUEST_ID_HEADER } from './arrival.ts';

type EnvelopeContext = {
  readonly requestId: string;
  readonly version: string;
  readonly user?: { readonly id: string; readonly username: string };
  /** Present if the browser holds the key of the session that a registration, log-in or refresh has opened or renewed (ADR 0006). */
  readonly binding?: 'browser';
  /** The same for a page or an app that holds the key of the session. */
  readonly deviceKey?: true;
};

/** The `type` of an error envelope, and the URL of `GET /errors/:code`. */
export const errorUri = (baseUrl: string, code: string): string => `${baseUrl}/errors/${code}`;

const timestampOf = isoTime();

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
  timestamp: timestampOf(clock.now()),
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

/** Stage 11: validates and converts the payload by the response schema, which also removes members that an object of the schema lacks. */
export const responseSerialization = ({ response }: Route): Middleware =>
  async function responseSerialization(ctx, next) {
    await next();
    const result = v.safeParse(response.data, ctx.state.payload);
    if (!result.success) throw new ResponseSerializationFailure(result.issues);
    ctx.state.payload = result.output;
  };

/** Stage 12: sends the payload in the form that the route declares, or a redirect. */
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

/** Sends the client to another URL, which it requests by GET (RFC 9110 §15.4.4). */
const redirect = (ctx: Context, location: string): void => {
  ctx.status = 303;
  ctx.set({ Location: location, 'Cache-Control': NO_STORE });
  ctx.body = '';
  ctx.remove('Content-Type');
};

/** SPEC "Success envelope". */
const respondWrapped = (ctx: Context, { clock }: HttpDeps): void => {
  ctx.res.setHeader('Cache-Control', NO_STORE);
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  const data = ctx.state.payload;
  ctx.body = toJson({ success: true, data, timestamp: timestampOf(clock.now()), context: contextOf(ctx) });
};

type Page = NonNullable<Route['response']['page']>;

const respondNegotiated = async (ctx: Context, page: Page, deps: HttpDeps): Promise<void> => {
  ctx.vary('Accept');
  if (prefersHtml(ctx)) {
    const text = await page(ctx.state.payload);
    ctx.etag = etagOf(text);
    setCacheControl(ctx, PAGE_CACHE_CONTROL);
    respondWithHtml(ctx, text);
  } else {
    respondWrapped(ctx, deps);
    // A weak tag of the payload alone, since the envelope also contains the time and the id of the request.
    ctx.etag = `W/"${etagOf(toJson(ctx.state.payload))}"`;
  }
  respondIfUnchanged(ctx);
};

/** A page with a Cross-Origin-Embedder-Policy can only frame documents that have one, too (HTML "Cross-origin embedder policies"). */
const EMBEDDABLE_HEADERS = {
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

const respondUnwrapped = (ctx: Context, unwrapped: Unwrapped): void => {
  const { type, cacheControl, embeddable, contentSecurityPolicy, referrerPolicy } = unwrapped;
  const { payload } = ctx.state;
  const content = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : toJson(payload);
  setCacheControl(ctx, cacheControl);
  if (embeddable) ctx.set(EMBEDDABLE_HEADERS);
  // Some handlers have already set the tag, such as those of cached documents.
  if (cacheControl !== NO_STORE && !ctx.response.get('ETag')) ctx.etag = etagOf(content);
  ctx.body = content;
  // After `ctx.body`, which sets a type of its own, and not by `ctx.type`, which adds a charset.
  ctx.set('Content-Type', type);
  if (contentSecurityPolicy !== undefined) ctx.set('Content-Security-Policy', contentSecurityPolicy);
  if (referrerPolicy !== undefined) ctx.set('Referrer-Policy', referrerPolicy);
  respondIfUnchanged(ctx);
};

/** If caches may store the response, removes the request id, since caches send the response to other clients (ADR 0013). */
const setCacheControl = (ctx: Context, cacheControl: string): void => {
  ctx.set('Cache-Control', cacheControl);
  if (cacheControl !== NO_STORE) ctx.remove(REQUEST_ID_HEADER);
};

/**
 * Responds with 304 to a client that has the content (RFC 9110 §15.4.5). Koa would also check `If-Modified-Since`, which a server must ignore
 * beside `If-None-Match` (§13.1.3). For a response without an ETag, Koa would take `If-None-Match: *` for a match.
 */
const respondIfUnchanged = (ctx: Context): void => {
  delete ctx.headers['if-modified-since'];
  if (ctx.response.get('ETag') && ctx.fresh) ctx.status = 304;
};

/** Koa would serialize after all stages, so that an error would have no envelope. A bigint or a cycle, for instance, has no JSON form. */
const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ResponseSerializationFailure([{ expected: 'JSON' }], { cause });
  }
};

/** Stage 13: turns an exception of any stage into the error envelope, a page for people, or the redirect that the route declares (`errorLocation`). */
export const errorEnvelope = (deps: HttpDeps): Middleware =>
  async function errorEnvelope(ctx, next) {
    ctx.state.arrivedAt = monotonicTime();
    try {
      await next();
    } catch (exception) {
      // An error of stage 1 or 2 comes before stage 3 has set the id of the request.
      ctx.request.id ??= deps.ids.next();
      ctx.request.version = deps.version;
      ctx.set(REQUEST_ID_HEADER, ctx.request.id);
      const error = declaredError(ctx, toAppError(exception), deps);
      // If the guard accepted the token, and a later check refused it, the envelope must not name the token's user.
      if (error.code === 'AUTH_TOKEN_INVALID') delete ctx.request.jwtClaim;
      logError(ctx, error, deps);
      const location = (await ctx.state.route?.errorLocation?.(ctx, error)) ?? null;
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

/** Pages for users and their forms have such paths, besides routes of the API. The router ignores letter case, too. */
const USER_PATH = /^\/auth\//i;

const respondWithPage = async (ctx: Context, error: AppError, deps: HttpDeps): Promise<void> => {
  if (USER_PATH.test(ctx.url)) {
    ctx.vary('Accept-Language');
    const { text, contentSecurityPolicy } = await deps.renderUserError(ctx, error);
    respondWithHtml(ctx, text, contentSecurityPolicy);
  } else respondWithHtml(ctx, (await import('../pages/errors.ts')).failurePage(deps, error, ctx.request.id));
};
