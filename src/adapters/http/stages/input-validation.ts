import createHttpError from 'http-errors';
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import * as v from 'valibot';
import type { FieldProblem } from '../../../domain/errors/app-error.ts';
import type { Route } from '../define-route.ts';
import { isHttpError } from '../exception-filters.ts';
import { RequestValidationFailure } from '../exceptions.ts';
import { fieldProblems } from '../field-problems.ts';

/** Bytes, counted after decompression. */
const BODY_LIMIT = 16 * 1024;
const MALFORMED: FieldProblem = { field: 'body', message: 'must be a JSON object', code: 'malformed' };

const parseJson = bodyParser({ enableTypes: ['json'], jsonLimit: `${BODY_LIMIT}b` });

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
    const query = check(request.query, ctx.query, 'query');
    const body = check(request.body, request.body && (await readBody(ctx)), 'body');
    if (problems.length > 0) throw new RequestValidationFailure(problems);
    ctx.state.input = { body, query, params };
    await next();
  };

const readBody = async (ctx: Context): Promise<unknown> => {
  // `null`: there is no body. `false`: there is one, of another type.
  const type = ctx.request.length === 0 ? null : ctx.request.is('json');
  if (type === null) throw new RequestValidationFailure([MALFORMED]);
  if (type === false) throw createHttpError(415);
  try {
    await parseJson(ctx, async () => undefined);
  } catch (error) {
    throw isHttpError(error) ? error : new RequestValidationFailure([MALFORMED]);
  }
  return ctx.request.body;
};
