import * as v from 'valibot';
import { AppError } from '../../../domain/errors/app-error.ts';
import { withResponseTimeout } from '../../resilience/response-timeout.ts';
import { type Route, route } from '../routing/define-route.ts';

/** A part of the service that may be unavailable. */
export type Check = {
  readonly name: string;
  readonly ping: () => Promise<unknown>;
  /** Whether the service is not ready without it. */
  readonly required: boolean;
};

const Readiness = v.object({
  /** `degraded`: all routes work, without a part that is not required. */
  status: v.picklist(['ready', 'degraded']),
  checks: v.record(v.string(), v.picklist(['up', 'down'])),
});

/** Milliseconds. */
const PING_TIMEOUT = 2_000;

export const healthRoutes = (checks: readonly Check[]): Route[] => [
  route(
    {
      name: 'live',
      method: 'GET',
      path: '/health/live',
      auth: 'public',
      throttle: 'public',
      response: { data: v.object({ status: v.literal('live') }) },
    },
    () => ({ status: 'live' as const }),
  ),
  route(
    {
      name: 'ready',
      method: 'GET',
      path: '/health/ready',
      auth: 'public',
      throttle: 'public',
      response: { data: Readiness },
    },
    async () => {
      const outcomes = await Promise.all(checks.map(async (check) => ({ ...check, up: await isUp(check.ping) })));
      const down = outcomes.filter(({ up }) => !up);
      if (down.some(({ required }) => required)) throw notReady(down.map(({ name }) => name));
      return {
        status: down.length === 0 ? ('ready' as const) : ('degraded' as const),
        checks: Object.fromEntries(outcomes.map(({ name, up }) => [name, up ? ('up' as const) : ('down' as const)])),
      };
    },
  ),
];

const isUp = (ping: Check['ping']): Promise<boolean> =>
  withResponseTimeout(PING_TIMEOUT, ping(), () => new Error('no response')).then(
    () => true,
    () => false,
  );

const notReady = (down: readonly string[]): AppError =>
  new AppError('SYS_HTTP_UNEXPECTED_ERROR', {
    status: 503,
    message: `Not ready; down: ${down.join(', ')}.`,
    retryAfter: 1,
  });
