import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createApp } from '../../src/adapters/http/app.ts';
import { listen } from '../../src/infrastructure/http-server/server.ts';
import { head, openSocket, parseAnswers, readToEnd } from '../support/http/raw-http.ts';
import { probe, stageDeps } from '../support/http/stage-app.ts';
import { assertDocumented } from '../support/openapi/documented-http.ts';
import { type RunningService, runInMemory, runService } from '../support/processes/process.ts';
import { ask } from '../support/processes/sessions-under-load.ts';

const CLIENTS = 16;

/** The end of a request: a response, or not accepted because the service no longer listened. Anything else was dropped. */
type Outcome =
  | { readonly status: number; readonly connection: string | undefined }
  | 'not accepted'
  | { readonly dropped: string };

const post = (url: string, agent: Agent, body: object): Promise<Outcome> =>
  new Promise((resolve) => {
    const answered = (response: IncomingMessage) => {
      const { statusCode: status = 0, headers } = response;
      text(response)
        .then((body) => {
          assertDocumented('POST', url, { status, headers, body });
          resolve({ status, connection: headers.connection });
        })
        .catch((error: Error) => resolve({ dropped: error.message }));
    };
    request(url, { method: 'POST', agent, headers: { 'Content-Type': 'application/json' } }, answered)
      .once('error', (error: NodeJS.ErrnoException) =>
        resolve(error.code === 'ECONNREFUSED' ? 'not accepted' : { dropped: error.message }),
      )
      .end(JSON.stringify(body));
  });

const isStopping = (stdout: readonly string[]) =>
  vi.waitFor(() => expect(stdout.some((line) => line.includes('Tandem is stopping'))).toBe(true), {
    timeout: 60_000,
    interval: 5,
  });

it('a server that closes responds to all requests of a connection', async () => {
  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const held = probe(async (_input, ctx) => {
    if (ctx.request.id === '2') asked.resolve();
    await release.promise;
    return ctx.request.id;
  });
  const server = await listen(createApp([held], stageDeps()), { host: '127.0.0.1', port: 0, requestTimeoutMs: 30_000 });
  const socket = openSocket(`http://127.0.0.1:${server.address.port}`);
  const text = readToEnd(socket);
  socket.write(['0', '1', '2'].map((id) => head('GET /probe', { 'svc-request-id': id })).join(''));
  await asked.promise;
  const closed = server.close();
  release.resolve();
  const answers = parseAnswers(await text);
  expect(answers.map(({ body }) => JSON.parse(body).data)).toEqual(['0', '1', '2']);
  expect(answers.map(({ headers }) => headers.connection)).toEqual(['keep-alive', 'keep-alive', 'close']);
  await closed;
});

describe('a service that stops', () => {
  let service: RunningService | undefined;
  const start = async (env: Readonly<Record<string, string>> = {}) => {
    service = await runService({
      RATE_LIMITS: 'off',
      // However slow the machine is, no request is given up.
      REQUEST_TIMEOUT_MS: '600000',
      ...env,
    });
    return service;
  };

  it('takes requests for SHUTDOWN_DELAY, while it is not ready', async () => {
    const { url, child, outcome, stdout } = await start({ SHUTDOWN_DELAY: '1m' });
    expect((await ask(`${url}/health/ready`)).status).toBe(200);
    child.kill('SIGTERM');
    await isStopping(stdout);
    expect(await ask(`${url}/health/ready`)).toMatchObject({
      status: 503,
      body: { message: 'Not ready; the service is stopping.' },
    });
    expect((await ask(`${url}/auth/session`)).status).toBe(200);
    // The second one ends it at once.
    child.kill('SIGTERM');
    expect(await outcome).toEqual({ code: 1, signal: null });
  });

  it('responds to every request that it accepted, closes connections, and exits with 0', async () => {
    // Under npm, which repeats a Ctrl-C.
    const { url, child, outcome, stdout } = await start({ npm_lifecycle_event: 'start' });
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    const outcomes: Outcome[] = [];
    const underWay = Promise.withResolvers<void>();
    let sent = 0;
    // Each log-in needs a hash: at any moment some requests are being hashed and others wait.
    const clients = Array.from({ length: CLIENTS }, async () => {
      let last: Outcome | undefined;
      while (last !== 'not accepted') {
        sent += 1;
        last = await post(`${url}/auth/login`, agent, { account: `nobody.${sent}`, password: 'correct horse' });
        outcomes.push(last);
        if (outcomes.length > CLIENTS) underWay.resolve();
      }
    });
    await underWay.promise;
    const answeredBefore = outcomes.length;
    child.kill('SIGINT');
    await isStopping(stdout);
    child.kill('SIGINT');
    await Promise.all(clients);
    expect(await outcome).toEqual({ code: 0, signal: null });
    expect(outcomes.filter((each) => typeof each === 'object' && 'dropped' in each)).toEqual([]);
    const afterwards = outcomes.slice(answeredBefore).filter((each) => typeof each === 'object' && 'status' in each);
    expect(afterwards.length).toBeGreaterThanOrEqual(CLIENTS);
    expect(afterwards.map((each) => each.status)).toEqual(afterwards.map(() => 401));
    expect(afterwards.some(({ connection }) => connection === 'close')).toBe(true);
    agent.destroy();
  });

  it('exits although a connection is kept open', async () => {
    const { url, stop } = await start();
    const agent = new Agent({ keepAlive: true });
    await post(`${url}/auth/refresh-token`, agent, {});
    expect(await stop()).toEqual({ code: 0, signal: null });
    agent.destroy();
  });
});

it.each(['SIGTERM', 'SIGINT'] as const)(
  'a program that calls `serve` and no more responds, and ends with 0 at %s',
  async (signal) => {
    const { url, child, outcome, stdout } = await runInMemory({ REQUEST_TIMEOUT_MS: '600000' });
    onTestFinished(() => void child.kill('SIGKILL'));
    const body = JSON.stringify({ username: 'ada', email: 'ada@example.org', password: 'correct horse 77' });
    const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length, Expect: '100-continue' };
    const asked = request(`${url}/auth/register`, { method: 'POST', headers });
    const answered = once(asked, 'response');
    asked.flushHeaders();
    await once(asked, 'continue');
    asked.write(body.slice(0, 9));
    child.kill(signal);
    await isStopping(stdout);
    asked.end(body.slice(9));
    const [response] = await answered;
    response.resume();
    expect(response.statusCode).toBe(201);
    expect(await outcome).toEqual({ code: 0, signal: null });
  },
);

it('a program with two services ends when both have stopped', async () => {
  const { child, outcome, stdout } = await runInMemory({ SERVICES: '2' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const count = (text: string) => stdout.filter((line) => line.includes(text)).length;
  await vi.waitFor(() => expect(count('"address":')).toBe(2), { timeout: 60_000 });
  child.kill('SIGTERM');
  expect(await outcome).toEqual({ code: 0, signal: null });
  expect(count('Tandem is stopping')).toBe(2);
});
