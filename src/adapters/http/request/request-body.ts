import { once } from 'node:events';
import createHttpError from 'http-errors';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { isHttpError } from '../errors/exception-filters.ts';

/** Bytes after decompression. */
const BODY_LIMIT = 16 * 1024;
/** Not `br`: for a few bytes its decoder fills a window of 16 MiB before the first one of output. */
const ENCODINGS = new Set(['', 'identity', 'gzip', 'deflate']);
/** RFC 9110 §15.5.16. */
const unsupportedEncoding = () => createHttpError(415, { headers: { 'Accept-Encoding': 'gzip, deflate' } });

const parseJson = bodyParser({ enableTypes: ['json'], jsonLimit: `${BODY_LIMIT}b` });

/**
 * The JSON object or array that a request carries, or `null` when it carries none.
 * @throws HttpError 413, 415, and 400 for a client that hung up
 */
export const readJson = async (ctx: Context): Promise<unknown> => {
  // `null`: no body. `false`: a body of another type.
  const type = ctx.request.length === 0 ? null : ctx.request.is('json');
  if (type === null) return null;
  if (type === false) throw createHttpError(415);
  if (!ENCODINGS.has(ctx.get('Content-Encoding'))) throw unsupportedEncoding();
  const read = new AbortController();
  try {
    await Promise.race([parseJson(ctx, async () => undefined), hungUp(ctx, read.signal)]);
  } catch (error) {
    if (isHttpError(error)) throw error;
    return null;
  } finally {
    read.abort();
    // An unread body would block the next request of the connection.
    ctx.req.unpipe().resume();
  }
  return ctx.request.rawBody === '' ? null : ctx.request.body;
};

/** When a client hangs up, the parser would keep waiting for the rest of a compressed body. */
const hungUp = async ({ req }: Context, signal: AbortSignal): Promise<never> => {
  await once(req, 'aborted', { signal });
  throw createHttpError(400, { type: 'request.aborted' });
};
