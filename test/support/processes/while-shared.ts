import { vi } from 'vitest';
import type { RunningService } from './process.ts';
import { ask } from './sessions-under-load.ts';

/** Waits until a service uses its Redis: it listens before it is connected, and counts for itself until then. */
export const untilReady = ({ url }: Pick<RunningService, 'url'>): Promise<void> =>
  vi.waitFor(
    async () => {
      const { body } = await ask(`${url}/health/ready`);
      // Every response of the service has this form.
      const { data } = body as { readonly data?: { readonly status: string } };
      if (data?.status !== 'ready') throw new Error(`not ready: ${JSON.stringify(body)}`);
    },
    { timeout: 60_000, interval: 20 },
  );

/**
 * Runs a scenario while services share their counts. A Redis that gets no processor time for a quarter of a second counts as
 * unavailable, and each service counts for itself: then the scenario runs again, with the next number.
 */
export const whileShared = async <Result>(
  services: readonly RunningService[],
  scenario: (attempt: number) => Promise<Result>,
): Promise<Result> => {
  const away = () => services.map(({ stdout }) => timesLogged(stdout, 'Redis is unavailable: '));
  const back = () => services.map(({ stdout }) => timesLogged(stdout, 'Redis is available again: '));
  const ready = () => Promise.all(services.map(untilReady));
  for (let attempt = 1; ; attempt += 1) {
    await ready();
    const before = away().join();
    const isShared = before === back().join();
    const result = await scenario(attempt);
    // Another answer of each service: what it logged before has arrived.
    await ready();
    if (isShared && away().join() === before) return result;
  }
};

const timesLogged = (lines: readonly string[], beginning: string): number =>
  lines.filter((line) => JSON.parse(line).msg.startsWith(beginning)).length;
