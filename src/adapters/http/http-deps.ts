import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Clock } from '../../application/ports/clock.ts';
import type { IdGenerator } from '../../application/ports/id-generator.ts';
import type { AccessToken, Verified } from '../../application/ports/token-signer.ts';
import type { LogSampling } from './logging/log-sampling.ts';
import type { Tier } from './routing/define-route.ts';

/** So many requests in a window of so many milliseconds; `null` is no limit. */
export type Limit = { readonly requests: number; readonly window: number } | null;

/** What the stages of the pipeline need. */
export type HttpDeps = {
  readonly logger: Logger;
  /** Asked before each line that a stranger could repeat without end. */
  readonly sampling: LogSampling;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly authenticate: (accessToken: string) => Promise<Verified<AccessToken>>;
  readonly version: string;
  /** Outside production an error whose code a route does not declare fails the request. */
  readonly environment: 'development' | 'test' | 'production';
  /** Where the error catalog is found: no trailing slash. */
  readonly baseUrl: string;
  readonly allowedOrigins: readonly string[];
  readonly rateLimits: Readonly<Record<Tier, Limit>>;
  /** Counts for all instances when there is one. */
  readonly redis: Redis | Cluster | null;
  /** Milliseconds. */
  readonly requestTimeout: number;
  /** Milliseconds. SPEC "Slow-request logging". */
  readonly slowRequest: { readonly warn: number; readonly error: number };
  /** Told of each answered request: the name of its route, the status, and the milliseconds since it arrived. */
  readonly onRequest?: ((route: string, status: number, duration: number) => void) | undefined;
  /** Told the status with which something was answered that is no HTTP request, or came too late. */
  readonly onUnreadable?: ((status: number) => void) | undefined;
};
