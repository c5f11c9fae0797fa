import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ephemeral ports of outgoing connections: a server that restarts needs its port again, and
 * a client that connects to an ephemeral port may connect to itself.
 */
const FIRST = 20_000;
const COUNT = 10_000;

/** A free TCP port of the loopback address. */
export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
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
