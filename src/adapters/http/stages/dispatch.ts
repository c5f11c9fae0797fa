import { createRequire } from 'node:module';
import type * as koaRouter from '@koa/router';
import type { Context, Middleware } from 'koa';
import compose from 'koa-compose';
import * as v from 'valibot';
import { monotonicTime } from '../../clock/system.ts';
import { withTimeout } from '../../limits/response-timeout.ts';
import { httpFailure } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { type Route, route } from '../routing/define-route.ts';

/** In its form as CommonJS: as an ES module it imports `http` by its name (../node-http.ts). */
const { Router }: typeof koaRouter = createRequire(import.meta.url)('@koa/router');

/** Stage 10: after the time-out the client gets 503, and the signal tells the handler to stop. */
export const handlerTimeout = ({ requestTimeout }: Pick<HttpDeps, 'requestTimeout'>): Middleware =>
  function handlerTimeout(ctx, next) {
    const controller = new AbortController();
    ctx.state.signal = controller.signal;
    return withTimeout(requestTimeout, next(), () => {
      const error = httpFailure(503, { reason: 'the handler took too long', retryAfter: 1 });
      controller.abort(error);
      return error;
    });
  };

/** Stage 9. */
export const timing = (): Middleware =>
  function timing(ctx, next) {
    ctx.state.startedAt = monotonicTime();
    return next();
  };

/** How browsers say that they load something in advance: the Fetch Standard's header, and those of older browsers. */
const HEADERS = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz'];
const IN_ADVANCE = /prefetch|prerender|preview/i;

/** What people and scripts ask for (Fetch §3.1.7): a navigation of a whole page, and `fetch`. The others are of what a page embeds. */
const ASKED = ['', 'document', 'empty'];

/**
 * Whether nobody has asked for what a request would do: it is sent in advance, only asks what a GET would answer, or is of an image, a frame
 * or the like, which anybody can cause who may post a picture on a page of the site.
 */
const isUnasked = (ctx: Context): boolean =>
  ctx.method === 'HEAD' ||
  !ASKED.includes(ctx.get('Sec-Fetch-Dest').toLowerCase()) ||
  HEADERS.some((name) => IN_ADVANCE.test(ctx.get(name)));

/**
 * The end of the pipeline: calls the route's handler. A GET that changes cookies, and the session with them, is refused to requests that nobody has
 * asked for: an answer with 200 could be kept, and given to the click that follows (ADR 0005).
 */
export const handle = ({ method, cookie, handler }: Route): Middleware =>
  async function handle(ctx) {
    if (method === 'GET' && cookie.writes !== undefined && isUnasked(ctx))
      throw httpFailure(400, { reason: 'the request is a prefetch, a HEAD, or of what a page embeds' });
    const { jwtClaim: claims, caller } = ctx.request;
    const { input, signal } = ctx.state;
    ctx.state.payload = await handler({ ...input, claims, caller, signal }, ctx);
  };

/** The route of every path and method without one. It is a route itself, so that rate limits apply. */
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
    const methods = matchedMethods(ctx);
    if (methods.length === 0) throw httpFailure(404, { reason: 'no route has this path' });
    throw httpFailure(405, { reason: 'no route has this method', headers: { Allow: methods.join(', ') } });
  },
});

/** The address of a page with a slash at the end, or with the token of a link behind a `#` that a mail program has encoded. */
const CHANGED = /^(?<folder>.*\/)(?<name>[\w-]+)(?<slash>\/?)(?:%23(?<token>token=[\w%.&=+-]+))?$/;

/** Where the page is that such an address means, relative to it. */
const pageMeant = ({ method, path, search }: Context, pages: ReadonlySet<string>): string | null => {
  const { folder, name, slash, token } = CHANGED.exec(path)?.groups ?? {};
  if (method !== 'GET' || !pages.has(`${folder}${name}`)) return null;
  return `${slash && '../'}${name}${token === undefined ? search : `#${token}`}`;
};

export const dispatch = (routes: readonly Route[], stagesOf: (route: Route) => Middleware): Middleware => {
  // A router compares a path with each of its routes: the pages have one of their own, so that the API does not pay for them.
  // A trailing slash does not match: `DELETE /sessions/` lacks the id of a session, and must not end all of them.
  const newRouter = () => new Router({ exclusive: true, strict: true });
  const [router, pages] = [newRouter(), newRouter()] as const;
  const key = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;
  /** Routes without parameters by their method and path, which is most requests: they need no comparison. */
  const exact = new Map<string, Middleware>();
  const forms = new Map(routes.filter(({ form }) => form !== undefined).map((each) => [key(each), each]));
  for (const each of routes.filter(({ form }) => form === undefined)) {
    const [json, form] = [entering(each, stagesOf), forms.get(key(each))];
    forms.delete(key(each));
    const to = each.visitor === undefined ? router : pages;
    const entry = form === undefined ? json : byType(json, entering(form, stagesOf));
    if (!/[:*{]/.test(each.path)) exact.set(key(each), entry);
    to.register(each.path, [each.method], entry);
  }
  for (const each of forms.values()) pages.register(each.path, [each.method], entering(each, stagesOf));
  const pathsOfPages = new Set(
    routes.flatMap(({ visitor, method, path }) => (visitor && method === 'GET' ? path : [])),
  );
  const toFallback = entering(FALLBACK, stagesOf);
  const fallback: Middleware = (ctx, next) => {
    const location = hasPath(ctx) ? pageMeant(ctx, pathsOfPages) : null;
    if (location !== null) ctx.state.location = location;
    return toFallback(ctx, next);
  };
  // The router sets the members that its own type requires of the context.
  const dispatched = compose([...[router, pages].map((each) => each.routes() as Middleware), fallback]);
  return function dispatch(ctx, next) {
    if (!hasPath(ctx)) return fallback(ctx, next);
    // As the router does.
    ctx.params = {};
    return (exact.get(key(ctx)) ?? dispatched)(ctx, next);
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

/** A page and the API may have a path in common: what a form sends is for the page. */
const byType =
  (json: Middleware, form: Middleware): Middleware =>
  (ctx, next) =>
    (ctx.is('urlencoded') ? form : json)(ctx, next);

const entering = (entered: Route, stagesOf: (route: Route) => Middleware): Middleware => {
  const stages = stagesOf(entered);
  return function enter(ctx, next) {
    ctx.state.route = entered;
    return stages(ctx, next);
  };
};

/** The methods of the routes that match the request's path, as the router has set them on the context. */
const matchedMethods = ({ matched = [] }: Context): string[] => [
  ...new Set(matched.flatMap(({ methods }) => methods)),
  ...(matched.length > 0 ? ['OPTIONS'] : []),
];
