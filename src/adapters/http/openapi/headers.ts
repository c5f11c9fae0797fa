import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import { NO_STORE, type Route } from '../routing/define-route.ts';
import { REQUEST_ID_HEADER } from '../stages/arrival.ts';
import type { Components, Json } from './components.ts';

type Header = { readonly description: string; readonly schema: Json; readonly required?: true };
type HeaderComponent = Header & { /** Default: the name of the component. */ readonly name?: string };

const header = (description: string): Header => ({ description, schema: { type: 'string' } });
const required = (header: Header): Header => ({ ...header, required: true });
const cookie = (description: string): HeaderComponent => ({ ...header(description), name: 'Set-Cookie' });

/** The header components. A header that differs by route has several: then `name` is the name of the header. */
const HEADERS = {
  [REQUEST_ID_HEADER]: required(header('The request id: that of the request, or a new ULID.')),
  'Uncached-Request-Id': {
    ...header('The request id. Absent from pages, which caches may store.'),
    name: REQUEST_ID_HEADER,
  },
  'Cache-Control': required(header('`no-store` with every envelope and with every error.')),
  'Retry-After': required({
    description: 'Whole seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 1 },
  }),
  'WWW-Authenticate': header(
    'With AUTH_TOKEN_MISSING and AUTH_TOKEN_INVALID: RFC 6750 §3, or RFC 9449 §7.1 if a proof is missing or not valid. With AUTH_STEP_UP_REQUIRED: RFC 9470 §3. With AUTH_PAGE_SERVER_UNKNOWN: RFC 7617 §2.',
  ),
  'Set-Cookie': required(
    header(
      'The new refresh token, in an HttpOnly cookie: `refresh_token=…`. With ACCESS_COOKIE, another one has the access token.',
    ),
  ),
  'New-Session-Cookie': cookie('The refresh token of a new session, in an HttpOnly cookie. Absent if none was opened.'),
  'Cleared-Cookie': cookie(
    'An expired `refresh_token`, which the browser deletes. Absent if another site caused the request.',
  ),
  'Bound-Cookie': cookie('`refresh_binding=…`, in an HttpOnly cookie for some minutes. Absent after a registration.'),
  'Pending-Login-Cookie': cookie(
    '`login_pending=…`, in an HttpOnly cookie. After a password or a code: for five minutes, or for ten if a code for a new device is mailed, for POST /auth/login/second-factor. After a request for a code: for ten minutes, for POST /auth/login/code/confirm.',
  ),
  'Sign-In-Cookie': cookie(
    '`sign_in_…=…`, in an HttpOnly cookie for ten minutes, for GET /auth/oidc/{provider}/callback.',
  ),
  'Access-Cookie': cookie(
    'With ACCESS_COOKIE, the cookie of the access token: a new one, or an expired one after the end of the session. Otherwise absent.',
  ),
  'Secure-Session-Registration': header(
    'Invites the browser to register a key (Device Bound Session Credentials). Absent unless BASE_URL is https and cookies are Secure.',
  ),
  'Secure-Session-Challenge': header('What the browser signs for the next renewal. Absent after a registration.'),
  'Accept-Encoding': header('The encodings of a body that are accepted, if another one was sent.'),
  'X-User-Id': required(header('The id of the user, a ULID.')),
  'X-Session-Id': required(header('The id of the session, a ULID.')),
  Location: required(header('Where the client goes on.')),
  Allow: required(header('The methods of the path.')),
  ETag: required(header('Identifies the content, for If-None-Match.')),
} satisfies Readonly<Record<string, HeaderComponent>>;

type HeaderName = keyof typeof HEADERS;

const STATUS_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  405: ['Allow'],
  415: ['Accept-Encoding'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const references = (names: readonly HeaderName[], components: Components): Json =>
  Object.fromEntries(
    names.map((component) => {
      const { name = component, ...definition }: HeaderComponent = HEADERS[component];
      return [name, components.addReference('headers', component, definition)];
    }),
  );

const CODE_HEADERS: Partial<Record<ErrorCode, readonly HeaderName[]>> = {
  AUTH_TOKEN_MISSING: ['WWW-Authenticate'],
  AUTH_TOKEN_INVALID: ['WWW-Authenticate'],
  AUTH_STEP_UP_REQUIRED: ['WWW-Authenticate'],
  AUTH_PAGE_SERVER_UNKNOWN: ['WWW-Authenticate'],
  AUTH_SECOND_FACTOR_REQUIRED: ['Pending-Login-Cookie'],
};

export const errorHeadersOf = (status: number, codes: readonly ErrorCode[], components: Components): Json => {
  const byCode = codes.flatMap((code) => CODE_HEADERS[code] ?? []);
  return references([REQUEST_ID_HEADER, 'Cache-Control', ...(STATUS_HEADERS[status] ?? []), ...byCode], components);
};

const COOKIE_HEADERS = {
  sets: ['Set-Cookie'],
  opens: ['Set-Cookie', 'Secure-Session-Registration'],
  'may-set': ['New-Session-Cookie'],
  clears: ['Cleared-Cookie'],
  waits: ['Pending-Login-Cookie'],
  starts: ['Sign-In-Cookie'],
  access: ['Access-Cookie'],
  binds: ['Bound-Cookie', 'Secure-Session-Challenge'],
} as const;

const isCacheable = ({ response: { unwrapped } }: Route): boolean =>
  unwrapped !== undefined && unwrapped.cacheControl !== NO_STORE;

export const hasETag = (route: Route): boolean => isCacheable(route) || route.response.page !== undefined;

/** A response that caches may store has no request id (ADR 0013). */
const requestIdOf = (route: Route): readonly HeaderName[] => {
  if (isCacheable(route)) return [];
  return [route.response.page === undefined ? REQUEST_ID_HEADER : 'Uncached-Request-Id'];
};

export const redirectHeadersOf = (components: Components): Json => references(['Location'], components);

export const successHeadersOf = (route: Route, components: Components): Json =>
  references(
    [
      ...requestIdOf(route),
      'Cache-Control',
      ...(hasETag(route) ? (['ETag'] as const) : []),
      ...(route.response.identifies ? (['X-User-Id', 'X-Session-Id'] as const) : []),
      ...(route.cookie.writes === undefined ? [] : COOKIE_HEADERS[route.cookie.writes]),
    ],
    components,
  );
