import { setTimeout } from 'node:timers/promises';
import type { Check } from '../check.ts';
import { type Reply, retryAfterOf } from '../client.ts';
import { errorOf, hold } from '../expectations.ts';
import { Mismatch } from '../outcome.ts';
import type { World } from '../world.ts';

/** SPEC "Rate limiting": the tier `strict` in development, which is the larger one, and its window. */
const LARGEST_LIMIT = 100;
const WINDOW = 60;

/** Log-ins that fail their validation, until one is refused: no password is compared. */
const exhausted = async ({ sendOnce }: World): Promise<Reply> => {
  for (let count = 0; count <= LARGEST_LIMIT; count += 1) {
    const reply = await sendOnce({ method: 'POST', path: '/auth/login', body: {} });
    if (reply.status === 429) return reply;
  }
  throw new Mismatch(`429 within ${LARGEST_LIMIT + 1} log-ins`, 'none');
};

const waitOf = (reply: Reply): number => {
  const seconds = retryAfterOf(reply);
  const got = reply.headers['retry-after'] ?? 'no such header';
  hold(seconds <= WINDOW, `Retry-After: at most ${WINDOW} seconds`, got);
  return seconds;
};

/** In this order: the first one may still use up what is left of the window. */
export const rateLimits: readonly Check[] = [
  {
    id: 'rate-limit',
    source: [
      'Rate limiting',
      'Beyond its limit: `CLIENT_REQUEST_RATE_LIMIT_EXCEEDED`, 429, with the header `Retry-After`.',
    ],
    title: 'log-ins over the limit answer 429 CLIENT_REQUEST_RATE_LIMIT_EXCEEDED',
    run: async (world) => {
      errorOf(await exhausted(world), 429, 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED');
    },
  },
  {
    id: 'rate-limit-retry-after',
    source: ['Rate limiting', 'with the header `Retry-After`'],
    title: 'the 429 has Retry-After in seconds, and after that time requests are admitted',
    run: async (world) => {
      await setTimeout(waitOf(await exhausted(world)) * 1000);
      const { status } = await world.sendOnce({ method: 'POST', path: '/auth/login', body: {} });
      hold(status !== 429, 'another status than 429 after the wait', '429');
    },
  },
];
