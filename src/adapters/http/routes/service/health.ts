import * as v from 'valibot';
import { AppError } from '../../../../domain/errors/app-error.ts';
import { withResponseTimeout } from '../../../limits/time-limits.ts';
import { reasonOf } from '../../../log/redact-error.ts';
import type { Check } from '../../request/settings.ts';
import { type Route, route } from '../../routing/define-route.ts';

/** A check whose concurrent calls share one ping, so that many health checks need only one connection to the database or Redis. */
export const withSharedPing = ({ ping, ...check }: Check): Check => {
  let currentPing: Promise<unknown> | null = null;
  return {
    ...check,
    ping: () => {
      currentPing ??= ping().finally(() => {
        currentPing = null;
      });
      return currentPing;
    },
  };
};

const ReadinessJson = v.object({
  /** `degraded`: a part is down without which most requests succeed. */
  status: v.picklist(['ready', 'degraded']),
  checks: v.record(v.string(), v.picklist(['up', 'down'])),
});

const PROBE = { auth: 'public', throttle: 'none' } as const;

/** How long a check waits, in milliseconds. The time for optional parts is short, since proxies stop using an instance that responds late. */
export const PING_TIMEOUT = { required: 2_000, optional: 500 };

const LivenessJson = v.object({
  status: v.literal('live'),
  revision: v.pipe(v.nullable(v.string()), v.examples(['2f1c9b7d4a8e6035c1f0b2a39d7e84c65f0a1b23'])),
});

/** The routes for health checks. @param revision the commit from which the service was built; `null`: unknown */
export const healthRoutes = (checks: readonly Check[], isStopping: () => boolean, revision: string | null): Route[] => [
  route({
    name: 'live',
    tag: 'health',
    summary: 'Respond while the process runs',
    description: '`revision` is the commit from which it was built, or null.',
    ...PROBE,
    at: 'GET /health/live',
    response: { data: LivenessJson },
    handler: () => ({ status: 'live' as const, revision }),
  }),
  route({
    name: 'ready',
    tag: 'health',
    summary: 'Report whether the service can serve requests',
    description:
      '200 with `degraded`: another table is locked (`tables`), or limits are counted for each process alone (`redis`).',
    ...PROBE,
    at: 'GET /health/ready',
    response: { data: ReadinessJson },
    handler: async () => {
      if (isStopping()) throw notReady('Not ready; the service is stopping.');
      const outcomes = await Promise.all(checks.map(outcomeOf));
      const failures = outcomes.filter(({ up }) => !up);
      if (failures.some(({ required }) => required)) {
        const names = failures.map(({ name }) => name).join(', ');
        throw notReady(
          `Not ready; down: ${names}.`,
          failures.map(({ name, reason }) => `${name}: ${reason}`).join('; '),
        );
      }
      return {
        status: failures.length === 0 ? ('ready' as const) : ('degraded' as const),
        checks: Object.fromEntries(outcomes.map(({ name, up }) => [name, up ? ('up' as const) : ('down' as const)])),
      };
    },
  }),
];

export const areUp = async (checks: readonly Check[]): Promise<boolean> =>
  (await Promise.all(checks.map(outcomeOf))).every(({ up }) => up);

const outcomeOf = async ({ name, ping, required }: Check) => {
  try {
    const noResponse = () => new AppError('SYS_UNEXPECTED_ERROR', { reason: 'no response' });
    await withResponseTimeout(required ? PING_TIMEOUT.required : PING_TIMEOUT.optional, ping(), noResponse);
    return { name, required, up: true, reason: '' };
  } catch (error) {
    const reason = error instanceof AppError ? error.reason : reasonOf(error);
    return { name, required, up: false, reason: reason ?? '' };
  }
};

const notReady = (message: string, reason = message): AppError =>
  new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 503, message, reason, retryAfter: 1 });
