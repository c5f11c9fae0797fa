import { createRequire } from 'node:module';
import type * as koaRouter from '@koa/router';
import type { Context, Middleware } from 'koa';
import compose from 'koa-compose';
import * as v from 'valibot';
import { monotonicTime } from '../../clock/system.ts';
import { withTimeout } from '../../limits/time-limits.ts';
import { httpFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { type Route, route } from '../routing/define-route.ts';

/** Loaded as CommonJS, since its ES module imports `http` (../node-http.ts). */
const { Router }: typeof koaRouter = createRequire(import.meta.url)('@koa/router');

/** Stage 10: after the time-out the client gets 503, and the signal tells the handler to stop. */
export const handlerTimeout = ({ requestTimeoutMs }: Pick<HttpDeps, 'requestTimeoutMs'>): Middleware =>
  function handlerTimeout(ctx, next) {
    const controller = new AbortController();
    ctx.state.signal = controller.signal;
    return withTimeout(requestTimeoutMs, next(), () => {
      const error = httpFailure(503, { reason: 'the handler took too long', retryAfter: 1 });
      controller.abort(error);
      return error;
    });
  };

/** Stage 9. */
export const timing: Middleware = (ctx, next) => {
  ctx.state.startedAt = monotonicTime();
  return next();
};

/** The Fetch Standard's header with the purpose of a request, and those of older browsers. */
const PURPOSE_HEADERS = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz'];
const PREFETCH = /prefetch|prerender|preview/i;

/** The destinations of a navigation and of `fetch` (Fetch §3.1.7). All others are of what a page embeds. */
const INTENDED_DESTINATIONS = ['', 'document', 'empty'];

/** Whether a request has no intent behind it: a prefetch, a HEAD, or an image or frame, which anybody can cause who may post a picture. */
const isUnintended = (ctx: Context): boolean =>
  ctx.method === 'HEAD' ||
  !INTENDED_DESTINATIONS.includes(ctx.get('Sec-Fetch-Dest').toLowerCase()) ||
  PURPOSE_HEADERS.some((name) => PREFETCH.test(ctx.get(name)));

/**
 * The end of the pipeline: calls the route's handler. A GET that changes cookies, such as a log-out, refuses unintended requests: browsers could
 * answer a later click with the response to a prefetch (ADR 0005).
 */
export const handle = ({ method, cookie, handler }: Route): Middleware =>
  async function handle(ctx) {
    if (method === 'GET' && cookie.writes !== undefined && isUnintended(ctx))
      throw httpFailure(400, { reason: 'the request is a prefetch, a HEAD, or of what a page embeds' });
    const { jwtClaim: claims, caller } = ctx.request;
    const { input, signal } = ctx.state;
    ctx.state.payload = await handler({ ...input, claims, caller, signal }, ctx);
  };

/** Answers requests that no route matches. It is a route itself, so that rate limits apply. */
export const FALLBACK = route({
  name: 'fallback',
  tag: 'errors',
  summary: 'Refuse a path or a method that no route has',
  at: 'GET /*',
  auth: 'public',
  request: { query: v.unknown() },
  response: { redirects: true },
  errorPages: true,
  httpStatuses: [404, 405],
  handler: (_input, ctx) => {
    if (ctx.state.location !== undefined) return;
    const methods = new Set(ctx.matched?.flatMap((layer) => layer.methods));
    if (methods.size === 0) throw httpFailure(404, { reason: 'no route has this path' });
    const Allow = [...methods, 'OPTIONS'].join(', ');
    throw httpFailure(405, { reason: 'no route has this method', headers: { Allow } });
  },
});

/** The path of a page with a trailing slash, or with the token of a link behind a `#` that a mail program has encoded. */
const DAMAGED_PATH = /^(?<folder>.*\/)(?<name>[\w-]+)(?<slash>\/?)(?:%23(?<token>token=[\w%.&=+-]+))?$/;

/** The relative URL of the page that a damaged path was meant for; `null`: there is none. */
const intendedPage = ({ method, path, search }: Context, pages: ReadonlySet<string>): string | null => {
  const { folder, name, slash, token } = DAMAGED_PATH.exec(path)?.groups ?? {};
  if (method !== 'GET' || !pages.has(`${folder}${name}`)) return null;
  return `${slash && '../'}${name}${token === undefined ? search : `#${token}`}`;
};

export const dispatch = (routes: readonly Route[], stagesOf: (route: Route) => Middleware): Middleware => {
  // A router compares a path with each of its routes: the pages have one of their own, so that the API does not pay for them.
  // A trailing slash does not match: `DELETE /sessions/` lacks the id of a session, and must not end all of them.
  const newRouter = () => new Router({ exclusive: true, strict: true });
  const [api, pages] = [newRouter(), newRouter()];
  const key = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;
  /** Routes without parameters, by method and path: most requests need no router. */
  const exact = new Map<string, Middleware>();
  const forms = new Map(routes.filter(({ form }) => form !== undefined).map((each) => [key(each), each]));
  for (const each of routes.filter(({ form }) => form === undefined)) {
    const [json, form] = [entryTo(each, stagesOf), forms.get(key(each))];
    forms.delete(key(each));
    const router = each.visitor === undefined ? api : pages;
    const entry = form === undefined ? json : byContentType(json, entryTo(form, stagesOf));
    if (!/[:*{]/.test(each.path)) exact.set(key(each), entry);
    router.register(each.path, [each.method], entry);
  }
  for (const each of forms.values()) pages.register(each.path, [each.method], entryTo(each, stagesOf));
  const pagePaths = new Set(routes.flatMap(({ visitor, method, path }) => (visitor && method === 'GET' ? path : [])));
  const toFallback = entryTo(FALLBACK, stagesOf);
  const fallback: Middleware = (ctx, next) => {
    const location = hasPath(ctx) ? intendedPage(ctx, pagePaths) : null;
    if (location !== null) ctx.state.location = location;
    return toFallback(ctx, next);
  };
  // The router sets the members that its own type requires of the context.
  const byRouters = compose([...[api, pages].map((each) => each.routes() as Middleware), fallback]);
  return function dispatch(ctx, next) {
    if (!hasPath(ctx)) return fallback(ctx, next);
    // As the router does.
    ctx.params = {};
    return (exact.get(key(ctx)) ?? byRouters)(ctx, next);
  };
};

/** Koa cannot parse some request targets, such as `http://[`. */
const hasPath = (ctx: Context): boolean => {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
};

/** A form and the API may have a path in common. */
const byContentType =
  (json: Middleware, form: Middleware): Middleware =>
  (ctx, next) =>
    (ctx.is('urlencoded') ? form : json)(ctx, next);

const entryTo = (route: Route, stagesOf: (route: Route) => Middleware): Middleware => {
  const stages = stagesOf(route);
  return (ctx, next) => {
    ctx.state.route = route;
    return stages(ctx, next);
  };
};
