// Proves flood-4
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { prometheusMetrics } from '../../../src/adapters/metrics/prometheus.ts';
import { listenForMetrics, MAX_CONNECTIONS } from '../../../src/infrastructure/http-server/server.ts';
import { exchangeRaw, head } from '../../support/http/raw-http.ts';

describe('the server of the metrics', () => {
  let port: number;
  beforeEach(async () => {
    const { address, closeNow } = await listenForMetrics(prometheusMetrics({ version: '0', revision: null }), {
      host: '127.0.0.1',
      port: 0,
    });
    onTestFinished(closeNow);
    port = address.port;
  });
  const urlOf = () => `http://127.0.0.1:${port}`;

  it('keeps so many connections and no more', async () => {
    const open = async (): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      await once(socket, 'connect');
      return socket;
    };
    const kept = await Promise.all(Array.from({ length: MAX_CONNECTIONS.METRICS }, open));
    const further = await open();
    await new Promise((resolve) => further.resume().once('close', resolve));
    expect(kept.filter(({ closed }) => closed)).toEqual([]);
    kept[0]?.write(head('GET /metrics'));
    const [answer] = await once(kept[0] ?? expect.unreachable(), 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('cuts off who takes his time with a head', async () => {
    expect((await exchangeRaw(urlOf(), 'GET /metrics HTTP/1.1\r\nHo')).status).toBe(408);
  });

  it.each([
    ['no HTTP', 'GARBAGE\r\n\r\n'],
    ['a tunnel', head('CONNECT a:1')],
    ['no Host', 'GET /metrics HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'GET /metrics HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
  ])('refuses without a body: %s', async (_what, bytes) => {
    expect(await exchangeRaw(urlOf(), bytes)).toMatchObject({
      status: 400,
      body: '',
      headers: { connection: 'close' },
    });
  });
});
