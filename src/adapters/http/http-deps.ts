import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { SignInStart } from '../../application/identities/at-provider.ts';
import type { Clock, IdGenerator } from '../../application/ports/clock-and-ids.ts';
import type { AdmitOperator } from '../../application/ports/proofs.ts';
import type { AccessToken, Verified } from '../../application/ports/token-signer.ts';
import type { Caller } from '../../application/sessions/current-user.ts';
import type { PresentedProof } from '../../application/sessions/prove-device.ts';
import type { StepUp } from '../../domain/assurance.ts';
import type { Binding } from '../../domain/device.ts';
import type { AppError } from '../../domain/errors/app-error.ts';
import type { Operator } from '../../domain/operator.ts';
import type { AccessClaims } from '../../domain/tokens.ts';
import type { Counts } from '../limits/counts.ts';
import type { Trace } from '../tracing/spans.ts';
import type { LogSampling } from './logging/log-sampling.ts';
import type { Site } from './pages/layout.ts';
import type { Route, Strategy, Tier } from './routing/define-route.ts';

/** Requests in a window of milliseconds; `null` is no limit. */
export type Limit = { readonly requests: number; readonly window: number } | null;

/** Of the site, error pages need the navigation and the style. */
export type HttpDeps = Pick<Site, 'siteNavigation' | 'siteStyle'> & {
  readonly logger: Logger;
  /** Bounds the log lines that an unauthenticated client can cause. */
  readonly sampling: LogSampling;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** @param presented a proof for the request (RFC 9449), or `null`. */
  readonly authenticate: (accessToken: string, presented: PresentedProof | null) => Promise<Verified<AccessToken>>;
  /** An access token for the refresh cookie of a page's visitor. @throws AppError AUTH_FAILED, AUTH_DEVICE_UNPROVEN unless `auth` is optional */
  readonly visitorToken: (ctx: Context, auth: Strategy) => Promise<string | undefined>;
  /** @throws AppError when the session of a token misses what a route requires. */
  readonly assertSteppedUp: (token: AccessToken, required: StepUp) => Promise<void>;
  /** Identifies a program of operators. Only the back office has it. */
  readonly admitOperator?: AdmitOperator;
  /** Identifies the operator who opens a page of the back office. @throws AppError */
  readonly admitPerson?: ((ctx: Context) => Promise<Operator>) | undefined;
  /** The host names that a request may be for, in lower case, besides `localhost` and IP addresses. Default: any. */
  readonly hosts?: readonly string[];
  readonly version: string;
  /** In development, log lines also have the path of the request. In production, an error that the route does not declare is sent nevertheless. */
  readonly nodeEnv: 'development' | 'test' | 'production';
  readonly baseUrl: string;
  /** Renders the page of an error below `/auth`, in the language of the user. */
  readonly userFailure: (
    ctx: Context,
    error: AppError,
  ) => Promise<{ readonly text: string; readonly contentSecurityPolicy: string }>;
  readonly allowedOrigins: readonly string[];
  /** The origins of the service itself. Only their pages may post forms that are not for applications as well. */
  readonly ownOrigins: readonly string[];
  /** The paths to which identity providers send browsers by POST, from any origin. Their routes change nothing. */
  readonly postedCallbacks?: ReadonlySet<string>;
  /** Names of headers that pages may send besides those of the specification. */
  readonly allowedHeaders: readonly string[];
  readonly allowedOriginsSetting: string;
  readonly rateLimits: Readonly<Record<Exclude<Tier, 'none'>, Limit>>;
  readonly counts: Pick<Counts, 'countRequest'>;
  /**
   * Answers a request that a browser sends twice, such as after a double click, with the response to the first one.
   * @param fields of a form with a random number; empty where a cookie has one; `null`: without one, equal requests are separate attempts
   * @param work returns where the browser goes
   */
  readonly answerOnce: (
    ctx: Context,
    fields: Iterable<readonly [string, string]> | null,
    work: () => Promise<string>,
  ) => Promise<string>;
  readonly requestTimeoutMs: number;
  /** SPEC "Slow-request logging". */
  readonly slowRequestThresholds: { readonly warn: number; readonly error: number };
  /** Called for each response. @param duration since the request arrived */
  readonly onRequest?: ((route: string, status: number, duration: number) => void) | undefined;
  /** Called for each response to input that is not HTTP, or did not arrive in time. */
  readonly onUnreadable?: ((status: number) => void) | undefined;
};

/** The members that the stages add to Koa's objects: SPEC "Request processing", `req.…`. */
declare module 'koa' {
  interface Request {
    /** Stage 2: the cookies that the service reads, by name. A browser may send several of one name. */
    cookies: ReadonlyMap<string, readonly string[]>;
    /** Stage 3: the value of `svc-request-id`. */
    id: string;
    /** Stage 3: the caller's trace, or a new one. */
    trace: Trace;
    /** Stage 3: the application's version. */
    version: string;
    /** Stage 7: the claims of a valid access token. */
    jwtClaim?: AccessClaims;
    /** Stage 7: the user of that token, and the session in which it was issued. */
    caller?: Caller;
  }

  interface DefaultContext {
    /** Set by the router: the routes that match the request's path. */
    matched?: readonly { readonly methods: readonly string[] }[];
  }

  interface DefaultState {
    /** Stage 13, which surrounds the others: when the request arrived, in monotonic milliseconds. */
    arrivedAt?: number;
    route?: Route;
    /** Stage 7: the program that an assertion has admitted to the back office. */
    operator?: Operator;
    /** Stage 8: the output of the route's schemas. */
    input: { body: unknown; query: unknown; params: unknown };
    /** Stage 9: in monotonic milliseconds. */
    startedAt?: number;
    /** Stage 10: aborted by the time-out. */
    signal: AbortSignal;
    /** Set for a page server with the right secret. `visitor` is the address that it names, or empty. */
    pageServer?: { readonly visitor: string };
    /** The id of the visitor's session, if the guard has refused it as ended. */
    endedSession?: string | undefined;
    /** The form that was posted, before its fields are validated. */
    form?: ReadonlyMap<string, string>;
    /** The status of the response, if it is not that of its route. */
    status?: number;
    /** Set by a handler that sends the client to another URL. */
    location?: string;
    /** The log-in that was begun before the browser went to the provider. */
    start?: SignInStart;
    /** What the session that the request has opened or renewed is bound to. */
    binding?: Binding;
    /** The handler's result; after stage 11, the serialized one. */
    payload?: unknown;
    loggedError?: { readonly code: string; readonly reason: string | undefined };
    logged?: boolean;
    /** Whether sampling suppressed the line of the exception, and therefore that of the response. ADR 0018. */
    suppressed?: boolean;
  }
}
