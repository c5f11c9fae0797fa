import type { Middleware } from 'koa';
import * as v from 'valibot';
import { ResponseSerializationFailure } from '../errors/exceptions.ts';
import type { Route } from '../routing/define-route.ts';

/** Stage 11: removes what the response schema does not name. */
export const responseSerialization = ({ response }: Route): Middleware =>
  async function responseSerialization(ctx, next) {
    await next();
    const result = v.safeParse(response.data, ctx.state.payload);
    if (!result.success) throw new ResponseSerializationFailure(result.issues);
    ctx.state.payload = result.output;
  };
