// Proves flood-4
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAnswer } from '../support/http/raw-http.ts';
import { type RunningService, runInMemory } from '../support/processes/process.ts';
import { ask } from '../support/processes/sessions-under-load.ts';

const HEAD = 'POST /auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

const open = async ({ url }: RunningService): Promise<Socket> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
};

describe('clients that take their time', () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await runInMemory({ REQUEST_TIMEOUT_MS: '2000' });
  });

  /** Writes until the service closes the connection. @returns everything it sent. */
  const trickle = async (socket: Socket, piece: string): Promise<string> => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const timer = setInterval(() => socket.write(piece), 100);
    await once(socket, 'close');
    clearInterval(timer);
    return Buffer.concat(chunks).toString();
  };

  it('are cut off with 408 in the middle of a head, a byte at a time', async () => {
    const socket = await open(service);
    socket.write(`${HEAD}X-Slow: `);
    expect(parseAnswer(await trickle(socket, 'a'))).toMatchObject({ status: 408 });
  });

  it('are cut off with 408 in the middle of a body, a byte at a time', async () => {
    const socket = await open(service);
    socket.write(`${HEAD}Content-Length: 10000\r\n\r\n{"account":"`);
    expect(parseAnswer(await trickle(socket, 'a'))).toMatchObject({ status: 408 });
  });

  it('are cut off when the body never ends', async () => {
    const socket = await open(service);
    const chunk = `1000\r\n${'a'.repeat(0x1000)}\r\n`;
    // More than a body may have: on a busy machine, the time would be over before so much of it has trickled.
    socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}`);
    expect(parseAnswer(await trickle(socket, chunk))).toMatchObject({ status: 413 });
  });

  it('are cut off when they send nothing, or half a head and nothing more', async () => {
    const idle = await Promise.all(Array.from({ length: 1_100 }, () => open(service)));
    for (const socket of idle.slice(1_000)) socket.write(HEAD);
    await Promise.all(idle.map((socket) => socket.resume().closed || once(socket, 'close')));
  });
});

describe('a thousand clients that send nothing, and a hundred that send half a head', () => {
  let service: RunningService;
  beforeAll(async () => {
    // Longer than this test takes: all of them stay connected.
    service = await runInMemory({ REQUEST_TIMEOUT_MS: '600000' });
  });

  it('do not keep others waiting', async () => {
    const idle = await Promise.all(Array.from({ length: 1_100 }, () => open(service)));
    for (const socket of idle.slice(1_000)) socket.write(HEAD);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(`${service.url}/auth/session`)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    for (const socket of idle) socket.destroy();
  });
});
