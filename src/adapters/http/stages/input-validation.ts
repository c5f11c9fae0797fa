import { type ParsedUrlQuery, parse } from 'node:querystring';
import createHttpError from 'http-errors';
import type { Context, Middleware, Next } from 'koa';
import bodyParser from 'koa-bodyparser';
import * as v from 'valibot';
import type { FieldProblem } from '../../../domain/errors/app-error.ts';
import { fieldProblems } from '../../json/field-problems.ts';
import { isHttpError, validationFailure } from '../errors/exceptions.ts';
import type { Route } from '../routing/define-route.ts';

const MALFORMED_BODY: FieldProblem = { field: 'body', message: 'must be a JSON object in UTF-8', code: 'malformed' };
const MALFORMED_QUERY: FieldProblem = { field: 'query', message: 'must be percent-encoded UTF-8', code: 'malformed' };

/** Stage 8: validates params, query and body by the route's schemas. An error has the problems of all three. */
export const inputValidation = ({ request }: Route): Middleware => {
  const validate = (ctx: Context, next: Next, parsedBody?: unknown): Promise<void> => {
    const problems: FieldProblem[] = [];
    const check = checkerInto(problems);
    const params = check(request.params, ctx.params ?? {}, 'params');
    const readableQuery = readQuery(ctx.url);
    const isUnreadable = readableQuery === null && request.query.type === 'strict_object';
    if (isUnreadable) problems.push(MALFORMED_QUERY);
    const query = isUnreadable ? undefined : check(request.query, readableQuery ?? {}, 'query');
    if (parsedBody === null) problems.push(MALFORMED_BODY);
    const body = parsedBody === null ? parsedBody : check(request.body, parsedBody, 'body');
    if (problems.length > 0) throw validationFailure(problems);
    ctx.state.input = { body, query, params };
    return next();
  };
  return function inputValidation(ctx, next) {
    const { body: schema } = request;
    return schema === undefined ? validate(ctx, next) : readBody(schema, ctx).then((body) => validate(ctx, next, body));
  };
};

/** A function that validates a value, and adds the problems to a list. @returns the output of the schema */
export const checkerInto =
  (problems: FieldProblem[]) =>
  (schema: v.GenericSchema | undefined, value: unknown, place: string): unknown => {
    if (schema === undefined) return undefined;
    const result = v.safeParse(schema, value);
    if (!result.success) problems.push(...fieldProblems(result.issues, place));
    return result.output;
  };

/** More than any route has. So a query with more has an unknown or a repeated parameter: a strict schema refuses it, others ignore the rest. */
export const MAX_PARAMETERS = 16;

/**
 * The first `MAX_PARAMETERS` parameters of a query; `null`: the query is not UTF-8. A repeated parameter becomes an array, which no parameter of a
 * schema accepts. Koa's parser is not used, since its time grows with the square of the length.
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
/** The parser's names of encodings, by `Content-Encoding`; `x-gzip` is `gzip` (RFC 9110 §8.4.1.3). Not `br`: its decoder takes 16 MiB for a few bytes. */
const ENCODINGS = new Map([
  ['', 'identity'],
  ['identity', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
]);

/** JSON is UTF-8 (RFC 8259 §8.1). Some programs send the charset as `utf8`. */
const CHARSETS = ['', 'utf-8', 'utf8'];

const PARSER_OPTIONS = {
  enableTypes: ['text'],
  extendTypes: { text: ['application/json', 'application/x-www-form-urlencoded'] },
  // `latin1` makes one character of each byte. The parser's UTF-8 would replace malformed bytes, and so change a password.
  encoding: 'latin1',
  textLimit: `${BODY_LIMIT}b`,
};
const readBytes = bodyParser(PARSER_OPTIONS);

/** Throws for malformed bytes, and ignores a byte order mark (RFC 8259 §8.1). */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the body of a request. If the schema is optional, a body that is empty or `null`, or has another media type, counts as none.
 * @returns `undefined`: there is no body; `null`: the body is not a JSON object in UTF-8
 */
const readBody = async (schema: v.GenericSchema, ctx: Context): Promise<unknown> => {
  const isOptional = schema.type === 'optional';
  if (isOptional && (ctx.request.length === 0 || !ctx.request.is('json'))) return undefined;
  const text = await readText(ctx);
  if (isOptional && (text === '' || text?.trim() === 'null')) return undefined;
  return parseObject(text ?? '');
};

export const parseObject = (text: string): object | null => {
  try {
    const value: unknown = JSON.parse(text, refusePrototype);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
};

/** Throws for a member `__proto__`, which could become the prototype of a copy of its object. */
const refusePrototype = (name: string, value: unknown): unknown => {
  if (name === '__proto__') throw new SyntaxError('__proto__');
  return value;
};

/**
 * The body as text; empty without a body; `null`: it is not UTF-8, or not compressed as `Content-Encoding` says.
 * @throws HttpError for instance 413, 415, and 400 if the client hung up
 */
export const readText = async (ctx: Context, mediaType: 'json' | 'urlencoded' = 'json'): Promise<string | null> => {
  // `false`: the body has another media type.
  const type = ctx.request.length === 0 ? null : ctx.request.is(mediaType);
  if (type === null) return '';
  if (type === false || !CHARSETS.includes(ctx.request.charset.toLowerCase())) throw createHttpError(415);
  const encoding = ENCODINGS.get(ctx.get('Content-Encoding').toLowerCase());
  // The response names the accepted encodings (RFC 9110 §15.5.16).
  if (encoding === undefined) throw createHttpError(415, { headers: { 'Accept-Encoding': 'gzip, deflate' } });
  // The parser only knows the names of encodings in lower case.
  ctx.req.headers['content-encoding'] = encoding;
  const { promise: hungUp, reject } = Promise.withResolvers<never>();
  const hangUp = () => reject(createHttpError(400, { type: 'request.aborted' }));
  ctx.req.once('aborted', hangUp);
  try {
    // Without the race, the parser would wait forever for a compressed body of a client that hung up.
    await Promise.race([readBytes(ctx, async () => undefined), hungUp]);
    return UTF8.decode(Buffer.from(`${ctx.request.rawBody}`, 'latin1'));
  } catch (error) {
    if (isHttpError(error)) throw error;
    return null;
  } finally {
    ctx.req.off('aborted', hangUp);
    // Discards the rest of the body, which would otherwise block the next request on the connection.
    ctx.req.unpipe().resume();
  }
};
