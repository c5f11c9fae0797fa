// Proves flood-5
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { MAX_PENDING } from '../../src/infrastructure/http-server/connection.ts';
import { exchangeText, head, openSocket, parseAnswers } from '../support/http/raw-http.ts';
import { probe, stageApp } from '../support/http/stage-app.ts';
import { runInMemory } from '../support/processes/process.ts';
import { freePort } from '../support/servers/free-port.ts';

const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    head('GET /probe', { 'svc-request-id': `${index}`, ...(index === count - 1 && { Connection: 'close' }) }),
  );

const numbersIn = (answers: string): unknown[] => parseAnswers(answers).map(({ body }) => JSON.parse(body).data);
const upTo = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));

/** Counts the requests of each connection between the start of their handler and the end of their response. */
const underWay = () => {
  const now = new Map<object, number>();
  let peak = 0;
  const change = (socket: object, by: number) => {
    now.set(socket, (now.get(socket) ?? 0) + by);
    peak = Math.max(peak, now.get(socket) ?? 0);
  };
  return {
    begin: ({ req, res }: Context) => {
      const { socket } = req;
      change(socket, 1);
      res.once('close', () => change(socket, -1));
    },
    peak: () => peak,
  };
};

describe('pipelined requests', () => {
  it('are answered in their order, as many as may wait', async () => {
    const requests = underWay();
    const { url } = await stageApp([
      probe(async (_input, ctx) => {
        requests.begin(ctx);
        // The first is the slowest.
        if (ctx.request.id === '0') for (let turn = 0; turn < 100; turn += 1) await nextTurn();
        return ctx.request.id;
      }),
    ]);
    expect(numbersIn(await exchangeText(url, numbered(MAX_PENDING).join('')))).toEqual(upTo(MAX_PENDING));
    expect(requests.peak()).toBe(MAX_PENDING);
  });

  it('lose their connection when one more waits, which is logged once, and no further one is processed', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let begun = 0;
    const { url, logs } = await stageApp([
      probe(() => {
        begun += 1;
        return released;
      }),
    ]);
    expect(await exchangeText(url, numbered(1_000).join(''))).toBe('');
    release();
    expect(logs.filter(({ msg }) => msg === 'unreadable request')).toEqual([
      expect.objectContaining({ reason: 'too many pipelined requests' }),
    ]);
    expect(begun).toBeLessThanOrEqual(MAX_PENDING);
  });

  it('lose their connection when the client does not read the responses', async () => {
    const closed = Promise.withResolvers<void>();
    const route = probe((_input, { req: { socket }, request: { id } }) => {
      if (id === '0') socket.once('close', () => closed.resolve());
      // More than the buffers of the system take.
      return 'x'.repeat(4_000_000);
    });
    const { url } = await stageApp([route], {}, 500);
    openSocket(url).write(numbered(MAX_PENDING).join(''));
    await closed.promise;
  });
});

const port = await freePort();
const metrics = `http://127.0.0.1:${port}`;
const service = await runInMemory({
  METRICS: String(port),
  NODE_OPTIONS: '--max-old-space-size=192',
  RATE_LIMITS: 'off',
  REQUEST_TIMEOUT_MS: '2000',
});

describe('twenty connections that send many requests and read no response', () => {
  const attack = (url: string, path: string): Socket => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    const request = head(`GET ${path}`);
    socket.write(request.repeat(130_000 / request.length));
    return socket;
  };
  /** A client that does not read only notices that a connection is closed when it writes. */
  const cutOff = async (socket: Socket): Promise<void> => {
    const timer = setInterval(() => socket.write('G'), 100);
    await new Promise((resolve) => socket.once('close', resolve));
    clearInterval(timer);
  };

  it.each([
    ['the service', '/errors'],
    ['the metrics', '/metrics'],
  ])('are cut off, and others are served from a small heap: by %s', async (what, path) => {
    const url = what === 'the service' ? service.url : metrics;
    const attackers = Array.from({ length: 20 }, () => attack(url, path));
    await Promise.all(attackers.map(cutOff));
    // A response within the 2 s of this service, however busy the machine is with the end of the attack.
    await expect.poll(async () => (await fetch(`${url}${path}`)).status).toBe(200);
    expect({ ended: service.child.exitCode, stderr: service.stderr }).toEqual({ ended: null, stderr: [] });
  });
});
