import type { AccessClaims } from '../../domain/tokens.ts';
import type { Route } from './routing/define-route.ts';

/** The members that the stages add to Koa's objects: SPEC "Request processing", `req.…`. */
declare module 'koa' {
  interface Request {
    /** Stage 2: the cookies that the service reads, by name. A browser may send several of one name. */
    cookies: ReadonlyMap<string, readonly string[]>;
    /** Stage 3: the value of `svc-request-id`. */
    id: string;
    /** Stage 3: the application's version. */
    version: string;
    /** Stage 7: the claims of a valid access token. */
    jwtClaim?: AccessClaims;
    /** Stage 7: the session in which that token was issued. */
    sessionId?: string;
  }

  interface DefaultContext {
    /** Set by the router: the routes that match the request's path. */
    matched?: readonly { readonly methods: readonly string[] }[];
  }

  interface DefaultState {
    /** Stage 13, which surrounds the others: when the request arrived, in monotonic milliseconds. */
    arrivedAt?: number;
    /** Set when the request is dispatched to a route. */
    route?: Route;
    /** Stage 8: the output of the route's schemas. */
    input?: { body: unknown; query: unknown; params: unknown };
    /** Stage 9: in monotonic milliseconds. */
    startedAt?: number;
    /** Stage 10: aborted by the time-out. */
    signal?: AbortSignal;
    /** Set by a refresh that the key of the browser has proven. */
    binding?: 'browser';
    /** The handler's result; after stage 11, the serialized one. */
    payload?: unknown;
    /** Set when an error is logged. */
    loggedError?: { readonly code: string; readonly reason: string | undefined };
    /** Whether the request has been logged. */
    logged?: boolean;
    /** Whether sampling suppressed the line of the exception, and therefore that of the response. ADR 0027. */
    suppressed?: boolean;
  }
}
