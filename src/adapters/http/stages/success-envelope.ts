import type { Context, Middleware } from 'koa';
import * as v from 'valibot';
import { etagOf, PAGE_CACHE_CONTROL, prefersHtml, respondWithHtml } from '../documents.ts';
import { successEnvelopeOf } from '../envelope.ts';
import { ResponseSerializationFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logRequest } from '../logging/request-log.ts';
import type { Route, Unwrapped } from '../routing/define-route.ts';
import { REQUEST_ID_HEADER } from './request-preprocessing.ts';

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
    if (unwrapped !== undefined) respondUnwrapped(ctx, unwrapped);
    else if (page !== undefined) await respondNegotiated(ctx, page, deps);
    else respondWrapped(ctx, deps);
    logRequest(ctx, deps);
  };

type Page = NonNullable<Route['response']['page']>;

/** In the envelope or as a page. Both have an ETag of their own. */
const respondNegotiated = async (ctx: Context, page: Page, deps: HttpDeps): Promise<void> => {
  ctx.vary('Accept');
  if (prefersHtml(ctx)) {
    const text = await page(ctx.state.payload);
    ctx.etag = etagOf(text);
    mayBeStored(ctx, PAGE_CACHE_CONTROL);
    respondWithHtml(ctx, text);
  } else {
    respondWrapped(ctx, deps);
    // Weak, since the envelope also has the time and the id of the request.
    ctx.etag = `W/"${etagOf(toJson(ctx.state.payload))}"`;
  }
  answerIfFresh(ctx);
};

/** Without the request id: caches answer the requests of others with it (ADR 0012). */
const mayBeStored = (ctx: Context, cacheControl: string): void => {
  ctx.set('Cache-Control', cacheControl);
  ctx.remove(REQUEST_ID_HEADER);
};

const respondWrapped = (ctx: Context, { clock }: HttpDeps): void => {
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'json';
  ctx.body = toJson(successEnvelopeOf(ctx, ctx.state.payload, clock));
};

const respondUnwrapped = (ctx: Context, { type, cacheControl, embeddable, contentSecurityPolicy }: Unwrapped): void => {
  const { payload } = ctx.state;
  const text = typeof payload === 'string' ? payload : toJson(payload);
  mayBeStored(ctx, cacheControl);
  if (embeddable) ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
  // A document that is kept has its tag already.
  if (!ctx.response.get('ETag')) ctx.etag = etagOf(text);
  ctx.body = text;
  // Set last and without `ctx.type`, since Koa would add a charset.
  ctx.set('Content-Type', type);
  if (contentSecurityPolicy !== undefined) ctx.set('Content-Security-Policy', contentSecurityPolicy);
  answerIfFresh(ctx);
};

/**
 * 304 to a client that has the content: without a body (RFC 9110 §15.4.5). Koa would ask `If-Modified-Since` beside a tag that matches,
 * which does not count then (§13.1.3), nor without a tag: no response has a `Last-Modified`.
 */
const answerIfFresh = (ctx: Context): void => {
  delete ctx.headers['if-modified-since'];
  if (ctx.fresh) ctx.status = 304;
};

/** A bigint, a cycle, or a `toJSON` that throws has no JSON. Koa would find out after this stage has succeeded. */
const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ResponseSerializationFailure([{ expected: 'JSON' }], { cause });
  }
};
