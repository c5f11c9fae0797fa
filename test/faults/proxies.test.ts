import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { runAtEnd } from '../support/closing.ts';
import { type RunningService, runInMemory } from '../support/processes/process.ts';
import { freePort } from '../support/servers/free-port.ts';
import { canStartPgbouncer } from '../support/servers/of-the-tests.ts';
import { PROXIES, startProxy } from '../support/servers/proxies.ts';

/** Milliseconds between two requests. */
const EVERY = 25;
/** Requests through each proxy before and after each event. */
const SOME = 40;
/** Milliseconds; only catches hangs. */
const SOON = { timeout: 60_000, interval: 20 };

/** A client that sends a request every few milliseconds until it is stopped. */
const startClient = (url: string) => {
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
  return {
    failures: () => statuses.filter((status) => status !== 200),
    /** Waits until this many more requests have a response. */
    responses: async (count: number) => {
      const until = statuses.length + count;
      await vi.waitFor(() => expect(statuses.length).toBeGreaterThanOrEqual(until), SOON);
    },
    stop: async () => {
      going = false;
      await load;
      await Promise.all(sent);
    },
  };
};

describe.runIf(canStartPgbouncer())('behind Caddy, nginx and HAProxy, with the documented configurations', () => {
  const start = (port: number): Promise<RunningService> =>
    runInMemory({
      PORT: String(port),
      // Probes do not count.
      RATE_LIMITS: 'global=off,strict=off,public=1/300',
      SHUTDOWN_DELAY: '2s',
      TRUST_PROXY: '1',
      LOG_LEVEL: 'info',
    });

  /** A proxy of each kind before the same instances, and a client of each. */
  const startClients = async (ports: readonly number[]) => {
    const clients = new Map<string, ReturnType<typeof startClient>>();
    for (const [name, proxy] of Object.entries(PROXIES)) {
      const url = await startProxy(
        proxy,
        ports.map((port) => `127.0.0.1:${port}`),
      );
      const client = startClient(url);
      runAtEnd(client.stop);
      clients.set(name, client);
    }
    return {
      responses: async (count = SOME) => {
        await Promise.all([...clients.values()].map(({ responses }) => responses(count)));
      },
      /** How many requests have failed, of each proxy for which some have. */
      failures: () =>
        [...clients]
          .map(([name, { failures }]) => ({ name, failed: failures().length }))
          .filter(({ failed }) => failed > 0),
    };
  };

  it('no request fails while instances are replaced one by one, and at most one when an instance is killed', async () => {
    const ports = [await freePort(), await freePort()];
    const services: RunningService[] = [];
    for (const port of ports) services.push(await start(port));
    const { responses, failures } = await startClients(ports);
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
    expect(failures().filter(({ failed }) => failed > 1)).toEqual([]);
  });
});
