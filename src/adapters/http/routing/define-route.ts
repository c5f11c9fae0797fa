import type { Context } from 'koa';
import * as v from 'valibot';
import type { Caller } from '../../../application/sessions/current-user.ts';
import type { StepUp } from '../../../domain/assurance.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import type { ErrorCode, OwnErrorCode } from '../../../domain/errors/catalog.ts';
import { type OwnEntries, type OwnError, ownEntry } from '../../../domain/errors/own-errors.ts';
import { isScope, type Scope } from '../../../domain/operator.ts';
import type { AccessClaims } from '../../../domain/tokens.ts';
import type { PageServer } from '../request/settings.ts';

export const TAGS = {
  tokens: 'Register, log in, refresh and log out.',
  sessions: 'List and end the sessions of the user.',
  users: 'The user of the access token.',
  factors: 'What the user can log in with besides the password.',
  account: 'Password, username, email address, history, export and deletion of an account.',
  errors: 'The catalog of error codes.',
  documents: 'Documents for programs, in formats that other standards define.',
  pages: 'Pages for people, and what they load.',
  health: 'Whether the service runs and can serve requests.',
  'back-office': 'Users and what happened to them, for programs of operators.',
  application: 'Routes of the application that runs in the same process.',
} as const;

type Tag = keyof typeof TAGS;

/** SPEC "Route guard". A route with a scope is for programs and people of the back office that have this scope, and takes no access token (ADR 0031). */
export type Strategy = 'public' | 'optional' | 'required' | Scope;
/** SPEC "Rate limiting". `none` is for health checks, which proxies send to every instance. */
export type Tier = 'global' | 'strict' | 'public' | 'none';
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Path = `/${string}`;

type Schema = v.GenericSchema<unknown, unknown>;
type Output<S> = S extends Schema ? v.InferOutput<S> : undefined;

/** The input of a handler, from stages 7, 8 and 10. */
export type HandlerInput<Body = unknown, Query = unknown, Params = unknown, Claims = AccessClaims | undefined> = {
  readonly body: Body;
  readonly query: Query;
  readonly params: Params;
  readonly claims: Claims;
  readonly caller: Claims extends AccessClaims ? Caller : undefined;
  /** Aborted if the handler takes longer than REQUEST_TIMEOUT_MS. */
  readonly signal: AbortSignal;
};

type ClaimsUnder<A extends Strategy> = A extends 'required'
  ? AccessClaims
  : A extends 'optional'
    ? AccessClaims | undefined
    : undefined;

type RequestSchemas<Body, Query, Params> = {
  readonly body?: Body;
  /** Default: no parameters, or any parameters if the route has error pages. */
  readonly query?: Query;
  readonly params?: Params;
};

/**
 * `v.strictObject` refuses unknown parameters, so that a misspelled `?except=current` fails and does not end all sessions. Pages that people open use
 * `v.looseObject` or `v.unknown()`, since mail programs and advertisers add parameters to links.
 */
export type QuerySchema = Schema & { readonly type: 'strict_object' | 'loose_object' | 'unknown' };

const NO_QUERY = v.strictObject({});

/** The schema of a response without data: `data` is `null`, whatever the handler returns. */
export const NO_DATA = v.pipe(
  v.unknown(),
  v.transform(() => null),
  v.metadata({ jsonSchema: { type: 'null' } }),
);

export const PUBLIC_READ = { auth: 'public', throttle: 'public' } as const;

export const NO_STORE = 'no-store';

/** A response without an envelope (ADR 0016). It has an ETag unless `cacheControl` is `NO_STORE`. */
export type Unwrapped = {
  readonly type: string;
  /** The header `Cache-Control` (RFC 9111 §5.2.2). A response that caches may store has no `svc-request-id` (ADR 0013). */
  readonly cacheControl: string;
  /** Whether pages of other origins may load the document without CORS (Cross-Origin-Resource-Policy), also in a frame. */
  readonly embeddable?: true;
  /** Default: the page may load nothing. */
  readonly contentSecurityPolicy?: string;
  /** For pages with forms: under the default `no-referrer`, browsers send `Origin: null` with a form. */
  readonly referrerPolicy?: 'same-origin';
};

type CookieUse = {
  /** Whether the route reads the refresh cookie. `optional`: it works without the cookie, too. */
  readonly reads?: 'optional' | 'required';
  /**
   * The cookie that a success sets or clears. Refresh cookie: `sets` always sets it, `opens` sets it for a new session, `may-set` in some cases,
   * `clears` clears it (the log-out, unless another site caused the request). Other cookies: `binds` sets `refresh_binding`, `waits` `login_pending`, `starts`
   * `sign_in_…`; `access` may clear the cookie of the access token.
   */
  readonly writes?: 'sets' | 'opens' | 'may-set' | 'clears' | 'binds' | 'waits' | 'starts' | 'access';
};

export type RouteHead = {
  readonly name: string;
  /** The method and the path: `GET /orders/:id`. */
  readonly at: `${Method} ${Path}`;
  /** One line, without a full stop. */
  readonly summary: string;
  readonly description?: string;
};

/** A declared route. Its rate limit, guard, validation, serialization, its part of the OpenAPI document and tests follow from the declaration. */
export type Route = Omit<RouteHead, 'at'> & {
  readonly method: Method;
  readonly path: Path;
  readonly tag: Tag;
  /** Default: `required`. */
  readonly auth: Strategy;
  /** Default: `global`. */
  readonly throttle: Tier;
  /** Requests a minute that one user or operator may send, from all addresses together. Only with `auth: 'required'` or a scope. */
  readonly requestsPerUser?: number;
  /** The authentication that the session must have (RFC 9470). Only with `auth: 'required'`. Default, and `null`: none. */
  readonly stepUp?: StepUp | null;
  readonly request: RequestSchemas<Schema | undefined, QuerySchema, Schema | undefined> & {
    readonly query: QuerySchema;
  };
  readonly response: Response<Schema> & { readonly status: number; readonly data: Schema };
  /** The page servers that may call the route. Default: none. */
  readonly pageServers?: readonly PageServer[];
  /** Whether clients that prefer HTML get errors as pages. A navigation with `Sec-Fetch-Dest` gets one anyway. Default: whether `response.page` is set. */
  readonly errorPages: boolean;
  readonly errors: ReadonlySet<ErrorCode>;
  /** The entries of an application's own codes, which the catalog lacks. Default: none. */
  readonly ownErrors: OwnEntries;
  /** The statuses of SYS_HTTP_UNEXPECTED_ERROR that the route may respond with. */
  readonly httpStatuses: ReadonlySet<number>;
  /** Default: the route uses no cookie. */
  readonly cookie: CookieUse;
  /** For pages of the service and their forms: instead of an access token, the refresh cookie identifies the user, or `admitPerson` the operator. */
  readonly visitor?: true;
  /** The route takes a posted form instead of JSON, and does what the route `submits` does. */
  readonly form?: {
    readonly submits: Route;
    /** The path of the page with the form. */
    readonly page: string;
    /** A field that the form requires, although it is optional in the route `submits`. */
    readonly requiredField?: string | undefined;
    /** Whether pages of the allowed origins may post the form, too. */
    readonly allowsApplications?: true;
    /** @returns the URL to which a success sends the browser */
    readonly successLocation: (ctx: Context) => Promise<string>;
  };
  /** The route that counts the requests to this route as its own. A route with `form` shares the limits of `submits`. */
  readonly sharesLimitsOf?: Route;
  /** @returns the URL to which an error sends the browser; `null`: the response is the error */
  readonly errorLocation?: (ctx: Context, error: AppError) => Promise<string | null>;
  readonly handler: (input: HandlerInput, ctx: Context) => unknown;
};

/** Whether the OpenAPI document describes a route. It leaves out pages for visitors and their forms, which are for people. */
export const isDescribed = ({ visitor }: Route): boolean => visitor === undefined;

type Response<Data> = {
  /** Default: 200. */
  readonly status?: number;
  /** Another status that the handler may choose, by `ctx.state.status`. */
  readonly otherStatus?: number;
  /** The schema of the handler's payload. Default: `NO_DATA`. */
  readonly data?: Data;
  readonly unwrapped?: Unwrapped;
  /** Renders the payload as a page for clients that prefer HTML (ADR 0024). The payload must be public, since caches may store the page. */
  readonly page?: (payload: Output<Data>) => Promise<string>;
  /** Whether the headers `X-User-Id` and `X-Session-Id` of the response tell a gateway who the user is. */
  readonly identifies?: true;
  /** Whether the handler may send the client to another URL instead (303), by `ctx.state.location`. */
  readonly redirects?: true;
};

/** An application's own error codes with their entries, or codes of the catalog with `true`. */
type OwnErrors = Readonly<Record<OwnErrorCode, OwnError | true>>;

type Declaration<Body, Query, Params, Data extends Schema, Auth extends Strategy> = RouteHead &
  Partial<
    Pick<
      Route,
      'throttle' | 'requestsPerUser' | 'stepUp' | 'pageServers' | 'errorPages' | 'cookie' | 'visitor' | 'errorLocation'
    >
  > & {
    readonly auth?: Auth;
    /** Default: `application`. */
    readonly tag?: Tag;
    readonly request?: RequestSchemas<Body, Query, Params>;
    readonly response?: Response<Data>;
    /** Error codes besides those of every route, and those that follow from `auth`, `stepUp` and `cookie` (`impliedErrors`). */
    readonly errors?: readonly ErrorCode[] | OwnErrors;
    /** Statuses of SYS_HTTP_UNEXPECTED_ERROR besides those of every route, and 415 of a route with a body. */
    readonly httpStatuses?: readonly number[];
    readonly handler: (
      input: HandlerInput<Output<Body>, Output<Query>, Output<Params>, ClaimsUnder<Auth>>,
      ctx: Context,
    ) => v.InferInput<Data> | Promise<v.InferInput<Data>>;
  };

/**
 * Declares a route. A handler whose payload does not match the response schema does not compile.
 * @throws Error when a code of an application's own is not DOMAIN_NOUN_CONDITION, has a domain of the service such as AUTH, or a status not from 400 to 599.
 *
 * @example
 * route({
 *   name: 'order', at: 'GET /orders/:id', summary: 'Return an order',
 *   request: { params: v.object({ id: v.string() }) },
 *   response: { data: v.object({ id: v.string() }) },
 *   errors: { SHOP_ORDER_NOT_FOUND: { status: 404, message: 'There is no such order.', description: 'It was removed.' } },
 *   handler: ({ params }) => orders.get(params.id) ?? Promise.reject(new AppError('SHOP_ORDER_NOT_FOUND')),
 * });
 */
export const route = <
  Data extends Schema = typeof NO_DATA,
  Body extends Schema | undefined = undefined,
  Query extends QuerySchema | undefined = undefined,
  Params extends Schema | undefined = undefined,
  Auth extends Strategy = 'required',
>({
  at,
  auth,
  tag = 'application',
  throttle = 'global',
  stepUp,
  request = {},
  response = {},
  errors = [],
  httpStatuses = [],
  cookie = {},
  errorPages = response.page !== undefined,
  handler,
  ...rest
}: Declaration<Body, Query, Params, Data, Auth>): Route => {
  const strategy = auth ?? 'required';
  const [method, path] = at.split(' ') as [Method, Path];
  const { codes, ownErrors } = declaredErrors(errors);
  return {
    ...rest,
    ...{ method, path, tag, auth: strategy, throttle },
    ...(stepUp !== undefined && { stepUp }),
    request: { ...request, query: request.query ?? (errorPages ? v.unknown() : NO_QUERY) },
    // The type `Route` cannot express that `page` and `handler` get the outputs of the schemas of their own declaration.
    response: { status: 200, data: NO_DATA, ...response } as Route['response'],
    errorPages,
    errors: new Set([...impliedErrors(strategy, stepUp, cookie), ...codes]),
    ownErrors,
    httpStatuses: new Set([...impliedStatuses(request), ...httpStatuses]),
    cookie,
    handler: handler as Route['handler'],
  };
};

/** A route that redirects every request to a location, whatever its query. */
export const redirectRoute = (head: RouteHead & Pick<Route, 'tag'>, location: string): Route =>
  route({
    ...{ ...head, ...PUBLIC_READ, request: { query: v.unknown() }, response: { status: 303, redirects: true } },
    handler: (_input, ctx) => {
      ctx.state.location = location;
    },
  });

const isList = (errors: readonly ErrorCode[] | OwnErrors): errors is readonly ErrorCode[] => Array.isArray(errors);

const declaredErrors = (errors: readonly ErrorCode[] | OwnErrors) => {
  if (isList(errors)) return { codes: errors, ownErrors: {} };
  const entries = Object.entries<OwnError | true>(errors).flatMap(([code, error]) =>
    error === true ? [] : [[code, ownEntry(code, error)] as const],
  );
  // Some of these codes are not in the catalog: `ownErrors` has their entries.
  return { codes: Object.keys(errors) as ErrorCode[], ownErrors: Object.freeze(Object.fromEntries(entries)) };
};

/** Errors of requests with a token or an assertion. To read the session of the token, or to store that the assertion was used, may fail. */
const CALLER_ERRORS = ['AUTH_TOKEN_MISSING', 'AUTH_TOKEN_INVALID', 'DB_RECORD_NOT_FOUND', 'DB_QUERY_FAILED'] as const;

/** A route with one of these uses may issue an access token, for which it asks the hook `claims`. If the hook fails, the route fails, too. */
const ISSUING_COOKIE_USES: readonly CookieUse['writes'][] = ['sets', 'opens', 'may-set'];

const impliedErrors = (auth: Strategy, stepUp: Route['stepUp'], { writes }: CookieUse): ErrorCode[] => [
  'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED',
  ...(auth === 'required' || isScope(auth) ? CALLER_ERRORS : []),
  ...(stepUp ? (['AUTH_STEP_UP_REQUIRED'] as const) : []),
  ...(ISSUING_COOKIE_USES.includes(writes) ? (['SYS_HOOK_UNAVAILABLE'] as const) : []),
  'CLIENT_PARAMS_VALIDATION_FAILED',
  'SYS_HTTP_UNEXPECTED_ERROR',
  'SYS_SERIALIZATION_ERROR',
  'SYS_UNEXPECTED_ERROR',
];

/** The statuses with which the pipeline or the HTTP server may refuse a request, such as 403 because of its origin, or 415 because of its body. */
const impliedStatuses = ({ body }: RequestSchemas<unknown, unknown, unknown>): number[] => [
  ...[400, 403, 408, 413, 431, 503],
  ...(body === undefined ? [] : [415]),
];
