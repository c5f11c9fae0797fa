import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type RunningService, runInMemory } from '../support/processes/process.ts';
import { freePort } from '../support/servers/free-port.ts';
import { canStartPgbouncer } from '../support/servers/of-the-tests.ts';
import { PROXIES, startProxy } from '../support/servers/proxies.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** Milliseconds between two requests. */
const EVERY = 10;
/** Requests before and after each event. */
const SOME = 100;
/** Milliseconds; only catches hangs. */
const SOON = { timeout: 60_000, interval: 20 };

/** Two instances behind a proxy, and a client that sends a request every ten milliseconds until it is stopped. */
const scene = async (name: string) => {
  const cleanups: (() => unknown)[] = [];
  const start = async (port: number): Promise<RunningService> => {
    const directory = temporaryDirectory();
    const service = await runInMemory({
      PORT: String(port),
      DATA_DIR: directory.path,
      RATE_LIMITS: 'off',
      SHUTDOWN_DELAY: '2s',
      TRUST_PROXY: '1',
      LOG_LEVEL: 'info',
    });
    cleanups.push(async () => {
      await service.stop('SIGKILL');
      directory.remove();
    });
    return service;
  };
  const ports = [await freePort(), await freePort()] as const;
  const services = [await start(ports[0]), await start(ports[1])] as const;
  const { url, stop: stopProxy } = await startProxy(PROXIES[name] ?? expect.unreachable(), [
    `127.0.0.1:${ports[0]}`,
    `127.0.0.1:${ports[1]}`,
  ]);
  cleanups.push(stopProxy);

  const statuses: number[] = [];
  const sent: Promise<unknown>[] = [];
  let going = true;
  const ask = async () => {
    const response = await fetch(`${url}/auth/session`, { signal: AbortSignal.timeout(60_000) });
    await response.arrayBuffer();
    statuses.push(response.status);
  };
  const load = (async () => {
    for (; going; await pause(EVERY)) sent.push(ask().catch(() => statuses.push(0)));
  })();
  const failures = () => statuses.filter((status) => status !== 200);
  return {
    ports,
    services,
    start,
    failures,
    /** Waits until this many more requests have a response. */
    responses: async (count = SOME) => {
      const until = statuses.length + count;
      await vi.waitFor(() => expect(statuses.length).toBeGreaterThanOrEqual(until), SOON);
    },
    close: async () => {
      going = false;
      await load;
      await Promise.all(sent);
      for (const clean of cleanups.toReversed()) await clean();
    },
  };
};

describe.runIf(canStartPgbouncer()).each(Object.keys(PROXIES))(
  'behind %s, with the documented configuration',
  (name) => {
    let played: Awaited<ReturnType<typeof scene>> | undefined;
    afterEach(() => played?.close());

    it('no request fails while instances are replaced one by one, and at most one when an instance is killed', async () => {
      played = await scene(name);
      const { ports, services, start, responses, failures } = played;
      await responses();
      let last: RunningService | undefined;
      for (const [index, service] of services.entries()) {
        expect(await service.stop('SIGTERM')).toEqual({ code: 0, signal: null });
        await responses();
        last = await start(ports[index] ?? expect.unreachable());
        await responses();
      }
      expect(failures()).toEqual([]);
      await last?.stop('SIGKILL');
      await responses(3 * SOME);
      expect(failures().length).toBeLessThanOrEqual(1);
    });
  },
);
