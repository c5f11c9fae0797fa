import { type ParsedUrlQuery, parse } from 'node:querystring';
import createHttpError from 'http-errors';
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import * as v from 'valibot';
import type { FieldProblem } from '../../../domain/errors/app-error.ts';
import { fieldProblems } from '../../json/field-problems.ts';
import { isHttpError, validationFailure } from '../errors/exceptions.ts';
import type { Route } from '../routing/define-route.ts';

const MALFORMED: FieldProblem = { field: 'body', message: 'must be a JSON object in UTF-8', code: 'malformed' };
const MALFORMED_QUERY: FieldProblem = { field: 'query', message: 'must be percent-encoded UTF-8', code: 'malformed' };

/** Stage 8: params, query and body against the route's schemas; every problem of all three at once. */
export const inputValidation = ({ request }: Route): Middleware => {
  const validate = async (ctx: Context): Promise<void> => {
    const problems: FieldProblem[] = [];
    const check = checking(problems);
    const params = check(request.params, ctx.params ?? {}, 'params');
    const asked = readQuery(ctx.url);
    const isUnreadable = asked === null && request.query.type === 'strict_object';
    if (isUnreadable) problems.push(MALFORMED_QUERY);
    const query = isUnreadable ? undefined : check(request.query, asked ?? {}, 'query');
    const sent = await readBody(request.body, ctx);
    if (sent === null) problems.push(MALFORMED);
    const body = sent === null ? sent : check(request.body, sent, 'body');
    if (problems.length > 0) throw validationFailure(problems);
    ctx.state.input = { body, query, params };
  };
  return function inputValidation(ctx, next) {
    return validate(ctx).then(next);
  };
};

/** Checks a value against a schema, and adds its problems to a list. */
export const checking =
  (problems: FieldProblem[]) =>
  (schema: v.GenericSchema | undefined, value: unknown, place: string): unknown => {
    if (schema === undefined) return undefined;
    const result = v.safeParse(schema, value);
    if (!result.success) problems.push(...fieldProblems(result.issues, place));
    return result.output;
  };

/** More parameters than any route has. A query with so many has an unknown or a repeated one, and is refused. */
export const MAX_PARAMETERS = 16;

/**
 * The first parameters of a query, without empty ones; `null` for a query that is not UTF-8. A repeated parameter becomes an array, which no
 * schema accepts. Koa's parser would take time quadratic in the length.
 */
export const readQuery = (target: string): ParsedUrlQuery | null => {
  if (!target.includes('?')) return {};
  const [, query = ''] = /\?(.*)/s.exec(target) ?? [];
  if (!isPercentEncoded(query)) return null;
  const pairs: string[] = [];
  for (const [pair] of query.matchAll(/[^&]+/g)) {
    pairs.push(pair);
    if (pairs.length === MAX_PARAMETERS) break;
  }
  return parse(pairs.join('&'));
};

export const isPercentEncoded = (query: string): boolean => {
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
};

/** Bytes after decompression. */
const BODY_LIMIT = 16 * 1024;
/** Not `br`: its decoder fills a window of 16 MiB for a few bytes of input. `x-gzip`: RFC 9110 §8.4.1.3. */
const ENCODINGS = new Map([
  ['', 'identity'],
  ['identity', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
]);
/** RFC 9110 §15.5.16. */
const unsupportedEncoding = () => createHttpError(415, { headers: { 'Accept-Encoding': 'gzip, deflate' } });

/** RFC 8259 §8.1; the second is a label of the WHATWG, which programs send. */
const CHARSETS = ['', 'utf-8', 'utf8'];

/** Reads a character for each byte: a decoder would turn bytes that are no UTF-8 into U+FFFD, and passwords into others. */
const OPTIONS = {
  enableTypes: ['text'],
  extendTypes: { text: ['application/json', 'application/x-www-form-urlencoded'] },
  encoding: 'latin1',
  textLimit: `${BODY_LIMIT}b`,
};
const readBytes = bodyParser(OPTIONS);

/** A byte order mark is ignored (RFC 8259 §8.1). */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A route without a body reads none. Where it is optional, one of another type is ignored, and an empty one or `null` is none.
 * @returns `undefined` for none, and `null` for what has to be a JSON object in UTF-8 and is not.
 */
const readBody = async (schema: v.GenericSchema | undefined, ctx: Context): Promise<unknown> => {
  const isOptional = schema?.type === 'optional';
  if (schema === undefined || (isOptional && (ctx.request.length === 0 || !ctx.request.is('json')))) return undefined;
  const text = await readText(ctx);
  if (isOptional && (text === '' || text?.trim() === 'null')) return undefined;
  return parseObject(text ?? '');
};

export const parseObject = (text: string): object | null => {
  try {
    const value: unknown = JSON.parse(text, withoutPrototypes);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
};

/** A member with this name would become the prototype of a copy. */
const withoutPrototypes = (name: string, value: unknown): unknown => {
  if (name === '__proto__') throw new SyntaxError('__proto__');
  return value;
};

/**
 * The text of JSON, or of a form, that a request carries; empty for none, and `null` for bytes that are no UTF-8 or not compressed as they say.
 * @throws HttpError 413, 415, and 400 for a client that hung up
 */
export const readText = async (ctx: Context, as: 'json' | 'urlencoded' = 'json'): Promise<string | null> => {
  // `null`: no body. `false`: a body of another type.
  const type = ctx.request.length === 0 ? null : ctx.request.is(as);
  if (type === null) return '';
  if (type === false || !CHARSETS.includes(ctx.request.charset.toLowerCase())) throw createHttpError(415);
  const encoding = ENCODINGS.get(ctx.get('Content-Encoding').toLowerCase());
  if (encoding === undefined) throw unsupportedEncoding();
  // The parser knows the encodings in lower case alone.
  ctx.req.headers['content-encoding'] = encoding;
  const { promise: hungUp, reject } = Promise.withResolvers<never>();
  const hangUp = () => reject(createHttpError(400, { type: 'request.aborted' }));
  ctx.req.once('aborted', hangUp);
  try {
    // The parser would wait for the rest of a compressed body for ever.
    await Promise.race([readBytes(ctx, async () => undefined), hungUp]);
    return UTF8.decode(Buffer.from(`${ctx.request.rawBody}`, 'latin1'));
  } catch (error) {
    if (isHttpError(error)) throw error;
    return null;
  } finally {
    ctx.req.off('aborted', hangUp);
    // Discards the rest of the body: it would block the next request of the connection.
    ctx.req.unpipe().resume();
  }
};
