import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * The first port. All ports are below the ephemeral ports of outgoing connections, because a server that restarts needs its port
 * again, and a client that connects to an ephemeral port may connect to itself.
 */
const FIRST_PORT = 20_000;
/** The number of ports of each vitest worker. Workers start servers at the same time, and a server may listen long after it got its port. */
const PORTS_PER_WORKER = 1_000;
const WORKERS = 10;

const returned = new Set<number>();

/** Finds a free TCP port of the loopback address, a different one at every call. */
export const freePort = async (): Promise<number> => {
  const first = FIRST_PORT + (Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS) * PORTS_PER_WORKER;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = first + Math.floor(Math.random() * PORTS_PER_WORKER);
    if (returned.has(port)) continue;
    returned.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free');
};

const isFree = async (port: number): Promise<boolean> => {
  const probe = createServer();
  try {
    probe.listen(port, '127.0.0.1');
    await once(probe, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    probe.close();
  }
};
