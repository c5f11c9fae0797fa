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
 * The first parameters of a query; `null`: it is not UTF-8. A repeated parameter becomes an array, which no schema accepts. Koa's parser would
 * take time quadratic in the length.
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
/** Not `br`: its decoder takes 16 MiB for a few bytes of input. `x-gzip`: RFC 9110 §8.4.1.3. */
const ENCODINGS = new Map([
  ['', 'identity'],
  ['identity', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
]);

/** RFC 8259 §8.1. Programs also send `utf8`, a label of the WHATWG. */
const CHARSETS = ['', 'utf-8', 'utf8'];

const PARSER_OPTIONS = {
  enableTypes: ['text'],
  extendTypes: { text: ['application/json', 'application/x-www-form-urlencoded'] },
  // One character for each byte. A decoder of UTF-8 would replace malformed bytes, and so change passwords.
  encoding: 'latin1',
  textLimit: `${BODY_LIMIT}b`,
};
const readBytes = bodyParser(PARSER_OPTIONS);

/** A byte order mark is ignored (RFC 8259 §8.1). */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the body if the schema has one. An optional body may be of another type, which is ignored, empty, or `null`.
 * @returns `undefined` for no body, and `null` for one that is not a JSON object in UTF-8.
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

/** A member called `__proto__` could become the prototype of a copy. */
const withoutPrototypes = (name: string, value: unknown): unknown => {
  if (name === '__proto__') throw new SyntaxError('__proto__');
  return value;
};

/**
 * The body as text; empty without one, and `null` if it is no UTF-8, or not compressed as its header says.
 * @throws HttpError 413, 415, and 400 for a client that hung up
 */
export const readText = async (ctx: Context, as: 'json' | 'urlencoded' = 'json'): Promise<string | null> => {
  // `false`: a body of another type.
  const type = ctx.request.length === 0 ? null : ctx.request.is(as);
  if (type === null) return '';
  if (type === false || !CHARSETS.includes(ctx.request.charset.toLowerCase())) throw createHttpError(415);
  const encoding = ENCODINGS.get(ctx.get('Content-Encoding').toLowerCase());
  // RFC 9110 §15.5.16.
  if (encoding === undefined) throw createHttpError(415, { headers: { 'Accept-Encoding': 'gzip, deflate' } });
  // The parser knows the encodings in lower case alone.
  ctx.req.headers['content-encoding'] = encoding;
  const { promise: hungUp, reject } = Promise.withResolvers<never>();
  const hangUp = () => reject(createHttpError(400, { type: 'request.aborted' }));
  ctx.req.once('aborted', hangUp);
  try {
    // Without the race, the parser would wait for the rest of a compressed body forever.
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
