import type { AccessClaims } from '../../domain/tokens.ts';
import type { Route } from './routing/define-route.ts';

/** What the stages leave on a request for one another: SPEC "Request processing", `req.…`. */
declare module 'koa' {
  interface Request {
    /** Stage 2. The cookies that the service reads, by name; a browser may send several of one name. */
    cookies: ReadonlyMap<string, readonly string[]>;
    /** Stage 3: the value of `svc-request-id`. */
    id: string;
    /** Stage 3: the application's version. */
    version: string;
    /** Stage 7: whose request this is, when a valid access token says so. */
    jwtClaim?: AccessClaims;
    /** Stage 7: in which session that token was issued. */
    sessionId?: string;
  }

  interface DefaultContext {
    /** The router: the routes that share the request's path. */
    matched?: readonly { readonly methods: readonly string[] }[];
  }

  interface DefaultState {
    /** Stage 13, which surrounds all: when the request arrived, in monotonic milliseconds. */
    arrivedAt?: number;
    /** Set when a route is dispatched. */
    route?: Route;
    /** Stage 8: what the route's schemas let through. */
    input?: { body: unknown; query: unknown; params: unknown };
    /** Stage 9, monotonic milliseconds. */
    startedAt?: number;
    /** Stage 10: aborted when the time is over. */
    signal?: AbortSignal;
    /** What the handler returned; after stage 11, serialized. */
    payload?: unknown;
    /** Whether the duration of this request has been logged. */
    logged?: boolean;
    /** Whether the line about its exception was left out, and so that about its answer is. ADR 0027. */
    leftOut?: boolean;
  }
}
