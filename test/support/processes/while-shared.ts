import { vi } from 'vitest';
import type { RunningService } from './process.ts';
import { ask } from './sessions-under-load.ts';

/** Waits until a service has connected to its Redis. Until then it already listens, and counts in its own memory. */
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
 * Runs a scenario while services share their counts in Redis. If a service found Redis unavailable in the meantime, as on a busy
 * machine, it counted in its own memory, so the scenario runs again with the next number.
 */
export const whileShared = async <Result>(
  services: readonly RunningService[],
  scenario: (attempt: number) => Promise<Result>,
): Promise<Result> => {
  const outages = () => services.map(({ stdout }) => timesLogged(stdout, 'Redis is unavailable: '));
  const recoveries = () => services.map(({ stdout }) => timesLogged(stdout, 'Redis is available again: '));
  const ready = () => Promise.all(services.map(untilReady));
  for (let attempt = 1; ; attempt += 1) {
    await ready();
    const before = outages().join();
    const isShared = before === recoveries().join();
    const result = await scenario(attempt);
    // When a service has answered once more, the log lines that it wrote before have arrived.
    await ready();
    if (isShared && outages().join() === before) return result;
  }
};

const timesLogged = (lines: readonly string[], beginning: string): number =>
  lines.filter((line) => JSON.parse(line).msg.startsWith(beginning)).length;
