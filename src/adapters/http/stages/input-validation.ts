import type { Middleware } from 'koa';
import * as v from 'valibot';
import type { FieldProblem } from '../../../domain/errors/app-error.ts';
import { RequestValidationFailure } from '../errors/exceptions.ts';
import { fieldProblems } from '../errors/field-problems.ts';
import { readBody } from '../request/body.ts';
import { readQuery } from '../request/query.ts';
import type { Route } from '../routing/define-route.ts';

const MALFORMED: FieldProblem = { field: 'body', message: 'must be a JSON object in UTF-8', code: 'malformed' };
const MALFORMED_QUERY: FieldProblem = { field: 'query', message: 'must be percent-encoded UTF-8', code: 'malformed' };

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
    const asked = readQuery(ctx.url);
    const isUnreadable = asked === null && request.query.type !== 'unknown';
    if (isUnreadable) problems.push(MALFORMED_QUERY);
    const query = isUnreadable ? undefined : check(request.query, asked ?? {}, 'query');
    const sent = await readBody(request.body, ctx);
    if (sent === null) problems.push(MALFORMED);
    const body = sent === null ? sent : check(request.body, sent, 'body');
    if (problems.length > 0) throw new RequestValidationFailure(problems);
    ctx.state.input = { body, query, params };
    await next();
  };
