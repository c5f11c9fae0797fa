import { once } from 'node:events';
import { type ParsedUrlQuery, parse } from 'node:querystring';
import createHttpError from 'http-errors';
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import * as v from 'valibot';
import type { FieldProblem } from '../../../domain/errors/app-error.ts';
import { isHttpError, RequestValidationFailure } from '../errors/exceptions.ts';
import { fieldProblems } from '../errors/field-problems.ts';
import type { Route } from '../routing/define-route.ts';

const MALFORMED: FieldProblem = { field: 'body', message: 'must be a JSON object', code: 'malformed' };

/** Stage 8: params, query and body against the route's schemas; every problem of all three at once. */
export const inputValidation = ({ request }: Route): Middleware =>
  async function inputValidation(ctx, next) {
    const problems: FieldProblem[] = [];
    const check = (schema: v.GenericSchema | undefined, value: unknown, place: string): unknown => {
      if (schema === undefined) return undefined;
      const result = v.safeParse(schema, value);
      if (!result.success) problems.push(...fieldProblems(result.issues, place));
      return result.output;
    };
    const params = check(request.params, ctx.params ?? {}, 'params');
    const query = check(request.query, parseQuery(ctx.url), 'query');
    const sent = await readBody(request.body, ctx);
    if (sent === null) problems.push(MALFORMED);
    const body = sent === null ? sent : check(request.body, sent, 'body');
    if (problems.length > 0) throw new RequestValidationFailure(problems);
    ctx.state.input = { body, query, params };
    await next();
  };

/** More parameters than any route has. A query with so many has an unknown or a repeated one, and is refused. */
const MAX_PARAMETERS = 16;

/**
 * The first parameters of a query, without empty ones. A repeated parameter becomes an array, which no schema accepts. Koa's parser would
 * take time quadratic in the length.
 */
const parseQuery = (target: string): ParsedUrlQuery => {
  if (!target.includes('?')) return {};
  const [, query = ''] = /\?(.*)/s.exec(target) ?? [];
  const pairs: string[] = [];
  for (const [pair] of query.matchAll(/[^&]+/g)) {
    pairs.push(pair);
    if (pairs.length === MAX_PARAMETERS) break;
  }
  return parse(pairs.join('&'));
};

/** Bytes after decompression. */
const BODY_LIMIT = 16 * 1024;
/** Not `br`: its decoder fills a window of 16 MiB for a few bytes of input. */
const ENCODINGS = new Set(['', 'identity', 'gzip', 'deflate']);
/** RFC 9110 §15.5.16. */
const unsupportedEncoding = () => createHttpError(415, { headers: { 'Accept-Encoding': 'gzip, deflate' } });

const parseJson = bodyParser({ enableTypes: ['json'], jsonLimit: `${BODY_LIMIT}b` });

/**
 * A route without a body reads none. Where it is optional, one of another type is ignored, and an empty one is none, even if its length was
 * unknown. @returns `undefined` for none, and `null` for what has to be a JSON object and is not.
 */
const readBody = async (schema: v.GenericSchema | undefined, ctx: Context): Promise<unknown> => {
  const isOptional = schema?.type === 'optional';
  if (schema === undefined || (isOptional && (ctx.request.length === 0 || !ctx.request.is('json')))) return undefined;
  const sent = await readJson(ctx);
  if (isOptional && ctx.request.rawBody === '') return undefined;
  return Array.isArray(sent) ? null : sent;
};

/**
 * The JSON object or array that a request carries, or `null` when it carries none.
 * @throws HttpError 413, 415, and 400 for a client that hung up
 */
const readJson = async (ctx: Context): Promise<unknown> => {
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
    // Discards the rest of the body: it would block the next request of the connection.
    ctx.req.unpipe().resume();
  }
  return ctx.request.rawBody === '' ? null : ctx.request.body;
};

/** Rejects when the client hangs up. The parser would wait for the rest of a compressed body for ever. */
const hungUp = async ({ req }: Context, signal: AbortSignal): Promise<never> => {
  await once(req, 'aborted', { signal });
  throw createHttpError(400, { type: 'request.aborted' });
};
