import type { Context, Middleware } from 'koa';
import * as v from 'valibot';
import { etagOf, PAGE_CACHE_CONTROL, prefersHtml, respondWithHtml } from '../documents.ts';
import { successEnvelopeOf } from '../envelope.ts';
import { ResponseSerializationFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logRequest } from '../logging/request-log.ts';
import { NO_STORE, type Route, type Unwrapped } from '../routing/define-route.ts';
import { REQUEST_ID_HEADER } from './request-scope.ts';

/** Stage 11: removes what the response schema does not name. */
export const responseSerialization = ({ response }: Route): Middleware =>
  async function responseSerialization(ctx, next) {
    await next();
    const result = v.safeParse(response.data, ctx.state.payload);
    if (!result.success) throw new ResponseSerializationFailure(result.issues);
    ctx.state.payload = result.output;
  };

/** Stage 12: writes the response, in the success envelope, as a page, or as it is. */
export const successEnvelope = ({ response: { status, unwrapped, page } }: Route, deps: HttpDeps): Middleware =>
  async function successEnvelope(ctx, next) {
    await next();
    ctx.status = status;
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

type Page = NonNullable<Route['response']['page']>;

/** Responds with the envelope or with a page, each with its own ETag. */
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

/** Removes the request id, since caches send the response to other clients (ADR 0013). */
const allowCaching = (ctx: Context, cacheControl: string): void => {
  ctx.set('Cache-Control', cacheControl);
  if (cacheControl !== NO_STORE) ctx.remove(REQUEST_ID_HEADER);
};

const respondWrapped = (ctx: Context, { clock }: HttpDeps): void => {
  ctx.set('Cache-Control', NO_STORE);
  ctx.type = 'json';
  ctx.body = toJson(successEnvelopeOf(ctx, ctx.state.payload, clock));
};

/** A frame also needs the second, in a page that sends it (HTML "Cross-origin embedder policies"). */
const EMBEDDABLE = {
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

const respondUnwrapped = (ctx: Context, { type, cacheControl, embeddable, contentSecurityPolicy }: Unwrapped): void => {
  const { payload } = ctx.state;
  const text = typeof payload === 'string' ? payload : toJson(payload);
  allowCaching(ctx, cacheControl);
  if (embeddable) ctx.set(EMBEDDABLE);
  // A cached document already has its tag.
  if (cacheControl !== NO_STORE && !ctx.response.get('ETag')) ctx.etag = etagOf(text);
  ctx.body = text;
  // Set last and without `ctx.type`, since Koa would add a charset.
  ctx.set('Content-Type', type);
  if (contentSecurityPolicy !== undefined) ctx.set('Content-Security-Policy', contentSecurityPolicy);
  respondIfUnchanged(ctx);
};

/**
 * Responds with 304 and no body to a client that has the content (RFC 9110 §15.4.5). Removes `If-Modified-Since`, which Koa would check
 * beside a matching tag, against §13.1.3; no response has a `Last-Modified`.
 */
const respondIfUnchanged = (ctx: Context): void => {
  delete ctx.headers['if-modified-since'];
  if (ctx.fresh) ctx.status = 304;
};

/** Serializes here, since Koa would do so after this stage. A bigint, a cycle, or a `toJSON` that throws has no JSON form. */
const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ResponseSerializationFailure([{ expected: 'JSON' }], { cause });
  }
};
