import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Clock } from '../../application/ports/clock.ts';
import type { IdGenerator } from '../../application/ports/id-generator.ts';
import type { AccessToken, Verified } from '../../application/ports/token-signer.ts';
import type { StepUp } from '../../domain/assurance.ts';
import type { LogSampling } from './logging/log-sampling.ts';
import type { Tier } from './routing/define-route.ts';

/** Requests in a window of milliseconds; `null` is no limit. */
export type Limit = { readonly requests: number; readonly window: number } | null;

export type HttpDeps = {
  readonly logger: Logger;
  /** Bounds the log lines that an unauthenticated client can cause. */
  readonly sampling: LogSampling;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly authenticate: (accessToken: string) => Promise<Verified<AccessToken>>;
  /** @throws AppError when the session of a token misses what a route requires. */
  readonly assertSteppedUp: (token: AccessToken, required: StepUp) => Promise<void>;
  readonly version: string;
  /** Outside production an error whose code a route does not declare fails the request. */
  readonly environment: 'development' | 'test' | 'production';
  /** The public URL of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly allowedOrigins: readonly string[];
  /** The setting that `allowedOrigins` come from, for the log. */
  readonly allowedOriginsSetting: string;
  /** Whether the log line of a request has its path, and the code and reason of its error. Only in development, since clients choose paths. */
  readonly detailedRequestLog: boolean;
  readonly rateLimits: Readonly<Record<Tier, Limit>>;
  /** Counts requests for all instances; `null`: each process counts its own. */
  readonly redis: Redis | Cluster | null;
  /** Called for each request that is counted in this process because Redis is unavailable. */
  readonly onFallback?: (() => void) | undefined;
  /** Milliseconds. */
  readonly requestTimeout: number;
  /** Milliseconds. SPEC "Slow-request logging". */
  readonly slowRequest: { readonly warn: number; readonly error: number };
  /** Called for each response with the route's name, the status, and the milliseconds since the request arrived. */
  readonly onRequest?: ((route: string, status: number, duration: number) => void) | undefined;
  /** Called with the status of each response to input that is not HTTP, or did not arrive in time. */
  readonly onUnreadable?: ((status: number) => void) | undefined;
};
