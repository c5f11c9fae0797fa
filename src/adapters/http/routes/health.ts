import * as v from 'valibot';
import { AppError } from '../../../domain/errors/app-error.ts';
import { type Route, route } from '../define-route.ts';

/** A part that the service can't do without. */
export type Check = { readonly name: string; readonly ping: () => Promise<void> };

/** Milliseconds a part may take to say that it is there. */
const PATIENCE = 2000;

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
      response: { data: v.object({ status: v.literal('ready'), checks: v.record(v.string(), v.literal('up')) }) },
    },
    async () => {
      const answers = await Promise.all(checks.map(async ({ name, ping }) => ({ name, up: await isUp(ping) })));
      const down = answers.filter(({ up }) => !up).map(({ name }) => name);
      if (down.length > 0) throw notReady(down);
      return { status: 'ready' as const, checks: Object.fromEntries(answers.map(({ name }) => [name, 'up' as const])) };
    },
  ),
];

const isUp = async (ping: () => Promise<void>): Promise<boolean> => {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), PATIENCE);
  const answered = ping().then(
    () => true,
    () => false,
  );
  return Promise.race([answered, late.promise]).finally(() => clearTimeout(timer));
};

const notReady = (down: readonly string[]): AppError =>
  new AppError('SYS_HTTP_UNEXPECTED_ERROR', {
    status: 503,
    message: `Not ready; down: ${down.join(', ')}.`,
    headers: { 'Retry-After': '1' },
  });
