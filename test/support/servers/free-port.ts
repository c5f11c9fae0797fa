import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems lend to outgoing connections: a server that is gone for a while must find its port again, and
 * a client that calls a lent one may reach itself.
 */
const FIRST = 20_000;
const COUNT = 10_000;

/** A TCP port of the loopback address that nobody listens on. */
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
