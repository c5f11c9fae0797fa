import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { SignInStart } from '../../application/identities/at-provider.ts';
import type { Clock, IdGenerator } from '../../application/ports/clock-and-ids.ts';
import type { AdmitOperator } from '../../application/ports/proofs.ts';
import type { AccessToken, Verification } from '../../application/ports/token-signer.ts';
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

/** At most `requests` in `window` milliseconds; `null`: no limit. */
export type RateLimit = { readonly requests: number; readonly window: number } | null;

/** `siteNavigation` and `siteStyle` are for error pages. */
export type HttpDeps = Pick<Site, 'siteNavigation' | 'siteStyle'> & {
  readonly logger: Logger;
  /** Decides which of the log lines that clients can cause are written (ADR 0018). */
  readonly sampling: LogSampling;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** @param presented the DPoP proof of the request (RFC 9449); `null`: the token did not come with the scheme `DPoP` */
  readonly authenticate: (accessToken: string, presented: PresentedProof | null) => Promise<Verification<AccessToken>>;
  /** An access token for the visitor of a page, by the refresh cookie; `undefined`: `auth` is optional, and no visitor was identified. @throws AppError */
  readonly visitorToken: (ctx: Context, auth: Strategy) => Promise<string | undefined>;
  /** Checks that the session of the token is live, and has the authentication that the route requires. @throws AppError */
  readonly assertSteppedUp: (token: AccessToken, required: StepUp) => Promise<void>;
  /** Identifies the program that sends a request to the back office. Default: the listener is not the back office. */
  readonly admitOperator?: AdmitOperator;
  /** Identifies the operator who opens a page of the back office. @throws AppError for anybody else */
  readonly admitPerson?: ((ctx: Context) => Promise<Operator>) | undefined;
  /** The host names that a request may be for, in lower case, besides `localhost` and IP addresses. Default: any. */
  readonly hosts?: readonly string[];
  readonly version: string;
  /** `development`: log lines say more, such as the path that was requested. `production`: clients also get errors that only the catalog declares. */
  readonly nodeEnv: 'development' | 'test' | 'production';
  readonly baseUrl: string;
  /** Renders the page of an error below `/auth`, where the pages for users are. */
  readonly renderUserError: (
    ctx: Context,
    error: AppError,
  ) => Promise<{ readonly text: string; readonly contentSecurityPolicy: string }>;
  readonly allowedOrigins: readonly string[];
  /** The origins of the service itself, whose pages may post its forms. Other allowed origins may post only forms with `allowsApplications`. */
  readonly ownOrigins: readonly string[];
  /** The paths to which identity providers send browsers by POST, from any origin. Their routes change nothing. */
  readonly postedCallbacks?: ReadonlySet<string>;
  /** Names of headers that pages of other origins may send, besides the headers of the specification. */
  readonly allowedHeaders: readonly string[];
  /** The name of the variable that has `allowedOrigins`, for the log. */
  readonly allowedOriginsSetting: string;
  readonly rateLimits: Readonly<Record<Exclude<Tier, 'none'>, RateLimit>>;
  readonly counts: Pick<Counts, 'countRequest'>;
  /**
   * Gives the second of two equal requests, such as of a double click, the stored answer to the first one. Without a stored answer, it handles the
   * second one, too. A random number in the request tells a second click from a second attempt.
   * @param fields of the form, with the number; empty: a cookie has the number; `null`: without a number, each request is an attempt of its own
   * @param work handles the request, and returns the URL to which the browser goes
   */
  readonly answerOnce: (
    ctx: Context,
    fields: Iterable<readonly [string, string]> | null,
    work: () => Promise<string>,
  ) => Promise<string>;
  readonly requestTimeoutMs: number;
  /** Milliseconds (SPEC "Slow-request logging"). */
  readonly slowRequestThresholds: { readonly warn: number; readonly error: number };
  /** Called for each response of the pipeline. @param duration in milliseconds since the request arrived */
  readonly onRequest?: ((route: string, status: number, duration: number) => void) | undefined;
  /** Called when the HTTP server itself refuses input, for example what is not HTTP, or did not arrive in time. */
  readonly onUnreadable?: ((status: number) => void) | undefined;
};

/** Members that the service adds to Koa's objects. SPEC "Request processing" calls some of them `req.…`. */
declare module 'koa' {
  interface Request {
    /** Stage 2: the cookies that the service reads, by name. A browser may send several of one name. */
    cookies: ReadonlyMap<string, readonly string[]>;
    /** The id of the request (`svc-request-id`). */
    id: string;
    /** Stage 3: the caller's trace, or a new one. */
    trace: Trace;
    /** Stage 3: the version of the service. */
    version: string;
    /** Stage 7: the claims of a valid access token. */
    jwtClaim?: AccessClaims;
    /** Stage 7: the user of the access token, and the session in which it was issued. */
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
    /** Stage 7: the program or the person that the guard has admitted to the back office. */
    operator?: Operator;
    /** Stage 8: the output of the route's schemas. */
    input: { body: unknown; query: unknown; params: unknown };
    /** The start of the duration that the log states, in monotonic milliseconds. */
    startedAt?: number;
    /** Stage 10: aborted if the handler takes too long. */
    signal: AbortSignal;
    /** Set if a page server sent the request with its secret. `visitor`: what it states as the address of its visitor, or empty. */
    pageServer?: { readonly visitor: string };
    /** The session of the visitor's refresh token, if the token was refused with AUTH_FAILED. */
    endedSession?: string | undefined;
    /** The fields of the form that was posted, before their validation. */
    form?: ReadonlyMap<string, string>;
    /** Set by a handler: the status of its response, instead of the route's `status`. */
    status?: number;
    /** The URL to which a success redirects the client. */
    location?: string;
    /** In the callback of a provider: what this browser has begun there. */
    start?: SignInStart;
    /** Whether the browser, or a page or an app, holds a key of the session that the request opened or renewed. */
    binding?: Binding;
    /** The handler's result; after stage 11, as the response schema has converted it. */
    payload?: unknown;
    loggedError?: { readonly code: string; readonly reason: string | undefined };
    isLogged?: boolean;
    /** Whether sampling suppressed the log line of the exception, and therefore also the line of the response, unless the response was slow. ADR 0018. */
    isSuppressed?: boolean;
  }
}
