import Router from '@koa/router';
import createHttpError from 'http-errors';
import type { Context, Middleware } from 'koa';
import compose from 'koa-compose';
import * as v from 'valibot';
import { type Route, route } from '../routing/define-route.ts';

/** What answers for every path and method that no route does, whatever the query; one route, so that the limits hold for it too. */
const FALLBACK = route(
  {
    name: 'fallback',
    method: 'GET',
    path: '/',
    auth: 'public',
    request: { query: v.unknown() },
    response: { data: v.null() },
  },
  (_input, ctx) => {
    const methods = matchedMethods(ctx);
    if (methods.length === 0) throw createHttpError(404);
    throw createHttpError(405, { headers: { Allow: methods.join(', ') } });
  },
);

/** No slash at the end: `DELETE /sessions/` is one session whose id is missing, not all of them. */
const EXACTLY = { strict: true };

/** Sends a request through the stages of its route, 6 to 12. */
export const dispatch = (routes: readonly Route[], stagesOf: (route: Route) => Middleware): Middleware => {
  const router = new Router({ exclusive: true });
  for (const each of routes) router.register(each.path, [each.method], entering(each, stagesOf), EXACTLY);
  const fallback = entering(FALLBACK, stagesOf);
  const dispatched = compose([router.routes() as Middleware, fallback]);
  return async function dispatch(ctx, next) {
    await (hasPath(ctx) ? dispatched : fallback)(ctx, next);
  };
};

/** Of some request targets that are no URL, such as `http://[`, the framework cannot tell the path. */
const hasPath = (ctx: Context): boolean => {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
};

const entering = (entered: Route, stagesOf: (route: Route) => Middleware): Middleware => {
  const stages = stagesOf(entered);
  return async function enter(ctx, next) {
    ctx.state.route = entered;
    await stages(ctx, next);
  };
};

/** The methods of the routes that share the request's path; the router leaves these on the context. */
const matchedMethods = ({ matched = [] }: Context): string[] => [
  ...new Set(matched.flatMap(({ methods }) => methods)),
  ...(matched.length > 0 ? ['OPTIONS'] : []),
];
