// Proves flood-6
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { head } from '../support/http/raw-http.ts';
import { runInMemory } from '../support/processes/process.ts';
import { freePort } from '../support/servers/free-port.ts';

const RESETS = 100;
const AT_ONCE = 50;
const PLAIN = head('GET /health/live');

type Reset = { readonly what: string; readonly bytes: string; readonly onAnswer?: boolean };

const RESETS_OF: readonly Reset[] = [
  { what: 'nothing was sent', bytes: '' },
  { what: 'half a head', bytes: 'GET /health/live HTTP/1.1\r\nHo' },
  { what: 'half a body', bytes: `${head('POST /auth/login', { 'Content-Length': '10' })}{"a` },
  { what: 'half a chunk', bytes: `${head('POST /auth/login', { 'Transfer-Encoding': 'chunked' })}a\r\nabc` },
  { what: 'a tunnel', bytes: head('CONNECT a:1') },
  { what: 'a tunnel behind a request', bytes: `${PLAIN}${head('CONNECT a:1')}` },
  { what: 'a tunnel with half a body', bytes: `${head('CONNECT a:1', { 'Content-Length': '10' })}abc` },
  { what: 'an upgrade', bytes: head('GET /health/live', { Connection: 'Upgrade', Upgrade: 'websocket' }) },
  {
    what: 'an upgrade with half a body',
    bytes: `${head('POST /auth/login', { Connection: 'Upgrade', Upgrade: 'h2c', 'Content-Length': '10' })}abc`,
  },
  {
    what: 'an expectation',
    bytes: head('POST /auth/login', { Expect: '100-continue', 'Content-Length': '10' }),
    onAnswer: true,
  },
  { what: 'an unknown expectation', bytes: head('POST /auth/login', { Expect: 'a miracle', 'Content-Length': '10' }) },
  { what: 'no HTTP', bytes: 'GARBAGE\r\n\r\n' },
  { what: 'a whole request', bytes: PLAIN },
  { what: 'its response', bytes: PLAIN, onAnswer: true },
  { what: 'the first of many responses', bytes: PLAIN.repeat(20), onAnswer: true },
];

/** Sends the bytes and resets the connection (RST): once they are sent, or once a response begins. */
const resetAfter = async (port: number, { bytes, onAnswer = false }: Reset): Promise<void> => {
  const socket: Socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const reset = () => void socket.resetAndDestroy();
  if (onAnswer) socket.once('data', reset);
  socket.once('connect', () => {
    if (bytes === '') reset();
    else socket.write(bytes, onAnswer ? undefined : reset);
  });
  await closed;
};

const statusOf = (url: string): Promise<number | Error> =>
  fetch(url).then(
    ({ status }) => status,
    (error) => error,
  );

const ports: Record<'service' | 'metrics', number> = { service: 0, metrics: 0 };
ports.metrics = await freePort();
const service = await runInMemory({ METRICS: String(ports.metrics), RATE_LIMITS: 'off' });
ports.service = Number(new URL(service.url).port);

describe('connections that are reset', () => {
  describe.each(['service', 'metrics'] as const)('on the port of the %s', (port) => {
    it.each(RESETS_OF)('do not end the process, a hundred of them: after $what', async (reset) => {
      let left = RESETS;
      const resetOn = async (): Promise<void> => {
        while (left-- > 0) await resetAfter(ports[port], reset);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, resetOn));
      // Connections count against the maximum until the service has noticed their reset.
      for (const url of [`${service.url}/health/live`, `http://127.0.0.1:${ports.metrics}/metrics`]) {
        await expect.poll(() => statusOf(url)).toBe(200);
      }
      expect({ ended: service.child.exitCode, stderr: service.stderr }).toEqual({ ended: null, stderr: [] });
    });
  });
});
