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

/** Loaded as CommonJS, since its ES module imports `http`, which takes time and memory (../node-http.ts). */
const { Router }: typeof koaRouter = createRequire(import.meta.url)('@koa/router');

/** Stage 10: if the handler takes too long, the client gets 503, and the signal tells the handler to stop. */
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
export const startTiming: Middleware = (ctx, next) => {
  ctx.state.startedAt = monotonicTime();
  return next();
};

/** The headers by which browsers tell that they prefetch: that of the Fetch Standard, and those of older browsers. */
const PURPOSE_HEADERS = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz'];
const PREFETCH_PURPOSE = /prefetch|prerender|preview/i;

/** `Sec-Fetch-Dest` of navigations is `document`, of `fetch` it is `empty`; old browsers have no such header. Images, frames and the like have others. */
const INTENDED_DESTINATIONS = ['', 'document', 'empty'];

/** Whether the user probably did not intend a request: a prefetch, a HEAD, or an image or frame, which another site can embed. */
const isUnintended = (ctx: Context): boolean =>
  ctx.method === 'HEAD' ||
  !INTENDED_DESTINATIONS.includes(ctx.get('Sec-Fetch-Dest').toLowerCase()) ||
  PURPOSE_HEADERS.some((name) => PREFETCH_PURPOSE.test(ctx.get(name)));

/**
 * The end of the pipeline: calls the route's handler. A GET that declares `cookie.writes`, such as the log-out, refuses unintended requests: an image
 * must not log out its viewer, and a browser could answer a later click with the response to a prefetch (ADR 0005).
 */
export const callHandler = ({ method, cookie, handler }: Route): Middleware =>
  async function callHandler(ctx) {
    if (method === 'GET' && cookie.writes !== undefined && isUnintended(ctx))
      throw httpFailure(400, { reason: 'the request is a prefetch, a HEAD, or of what a page embeds' });
    const { jwtClaim: claims, caller } = ctx.request;
    const { input, signal } = ctx.state;
    ctx.state.payload = await handler({ ...input, claims, caller, signal }, ctx);
  };

/** Answers requests that match no route. It is a route itself, so that its rate limit applies to them. */
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

/** The path of a page that has a trailing slash, or ends with the token of a link whose `#` a mail program has encoded as `%23`. */
const DAMAGED_PATH = /^(?<folder>.*\/)(?<name>[\w-]+)(?<slash>\/?)(?:%23(?<token>token=[\w%.&=+-]+))?$/;

/** The relative URL of the page that a GET with a damaged path is for; `null`: it is no such request. */
const undamagedUrl = ({ method, path, search }: Context, pages: ReadonlySet<string>): string | null => {
  const { folder, name, slash, token } = DAMAGED_PATH.exec(path)?.groups ?? {};
  if (method !== 'GET' || !pages.has(`${folder}${name}`)) return null;
  return `${slash && '../'}${name}${token === undefined ? search : `#${token}`}`;
};

export const dispatch = (routes: readonly Route[], stagesOf: (route: Route) => Middleware): Middleware => {
  // A router compares a path with each of its routes. Pages with a `visitor` have a router of their own, so that requests to the API are not slower.
  // `strict`: a trailing slash does not match. `DELETE /auth/sessions/`, without the id of a session, must not end all sessions.
  const newRouter = () => new Router({ exclusive: true, strict: true });
  const [api, pages] = [newRouter(), newRouter()];
  const key = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;
  /** Routes without parameters in their path, by `key`: a look-up is faster than a router. */
  const withoutParameters = new Map<string, Middleware>();
  const forms = new Map(routes.filter(({ form }) => form !== undefined).map((each) => [key(each), each]));
  for (const each of routes.filter(({ form }) => form === undefined)) {
    const [json, form] = [stagesWithRoute(each, stagesOf), forms.get(key(each))];
    forms.delete(key(each));
    const router = each.visitor === undefined ? api : pages;
    const entry = form === undefined ? json : byContentType(json, stagesWithRoute(form, stagesOf));
    if (!/[:*{]/.test(each.path)) withoutParameters.set(key(each), entry);
    router.register(each.path, [each.method], entry);
  }
  for (const each of forms.values()) pages.register(each.path, [each.method], stagesWithRoute(each, stagesOf));
  const pagePaths = new Set(routes.flatMap(({ visitor, method, path }) => (visitor && method === 'GET' ? path : [])));
  const toFallback = stagesWithRoute(FALLBACK, stagesOf);
  const fallback: Middleware = (ctx, next) => {
    const location = hasPath(ctx) ? undamagedUrl(ctx, pagePaths) : null;
    if (location !== null) ctx.state.location = location;
    return toFallback(ctx, next);
  };
  // The type of a router's middleware requires members of the context that the router sets itself.
  const byRouters = compose([...[api, pages].map((each) => each.routes() as Middleware), fallback]);
  return function dispatch(ctx, next) {
    if (!hasPath(ctx)) return fallback(ctx, next);
    // A router sets `params`, but a route without parameters may be called without a router.
    ctx.params = {};
    return (withoutParameters.get(key(ctx)) ?? byRouters)(ctx, next);
  };
};

/** Whether Koa can parse the request target. It throws for some, such as `http://[`. */
const hasPath = (ctx: Context): boolean => {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
};

/** For a form and a route of the API that have the same method and path. */
const byContentType =
  (json: Middleware, form: Middleware): Middleware =>
  (ctx, next) =>
    (ctx.is('urlencoded') ? form : json)(ctx, next);

const stagesWithRoute = (route: Route, stagesOf: (route: Route) => Middleware): Middleware => {
  const stages = stagesOf(route);
  return (ctx, next) => {
    ctx.state.route = route;
    return stages(ctx, next);
  };
};
