import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { storageOver } from '../../src/adapters/records/storage.ts';
import { compose, type RunningService } from '../../src/infrastructure/compose.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { createLogger } from '../../src/infrastructure/logging/log.ts';
import { purge } from '../../src/infrastructure/serve.ts';
import { plainPasswordHasher } from '../support/fakes.ts';
import { testKeyPair, testKeys } from '../support/keys.ts';
import { type AnswerCheck, answerCheckOf } from '../support/openapi/answer-check.ts';
import { database } from './database.ts';
import { world } from './facts.ts';
import { beginnings, expect, MINUTE, perWorld } from './kernel.ts';
import { type Answer, APP_LINK, APPLICATION, type Asked, BASE, openOutside } from './outside.ts';
import { keeping } from './process.ts';

/** Instances of the service, with the whole pipeline of a request. */

/** Milliseconds. In 5 seconds, as the service does it, polls would be half of all that happens. */
const [POLL_INTERVAL, PURGE_INTERVAL] = [2 * MINUTE, 10 * MINUTE];

export type Instance = Awaited<ReturnType<typeof openInstance>>;
export const instances: Instance[] = [];

/** What they share. */
export const deployment = perWorld((chance) => {
  const formerSystem = testKeyPair();
  const settings = {
    NODE_ENV: 'test',
    BASE_URL: BASE,
    ALLOWED_ORIGINS_DEV: APPLICATION,
    FACTOR_KEYS: Buffer.alloc(32, 7).toString('base64url'),
    JWT_ACCESS_EXPIRES_IN: '15m',
    APP_LINKS: APP_LINK,
    LOGIN_BY_CODE: 'on',
    DEVICE_BINDING: world.binding ? 'enforce' : 'off',
    JWT_BINDING: world.binding && world.bindsTokens ? 'on' : 'off',
    NEW_DEVICE_CODE: world.newDeviceCode,
    PASSWORDS: world.needsPasswords ? 'required' : 'optional',
    JWT_REFRESH_EXPIRES_IN: world.lifetime,
    JWT_REFRESH_REPLAY_WINDOW: world.replays ? '10s' : '0',
    ADOPTION_PUBLIC_KEY: String(formerSystem.publicKeys[0]?.export({ type: 'spki', format: 'pem' })),
  };
  return { formerSystem, settings, keys: testKeys(), ...openOutside(chance) };
});
beginnings.push(() => void instances.splice(0));

/** It takes long to make, and no setting of a world changes it. */
let check: AnswerCheck | undefined;

export const openInstance = async () => {
  const { settings, keys, counts, mailerOf, senderFor, providers } = deployment;
  const { line, records, kill } = database.connect();
  const config = { ...parseConfig(settings), keys };
  const write = (text: string): void => {
    const isExpected = line.isDead || !/"level":"fatal"|"code":"SYS_(UNEXP|SERI)/.test(text);
    expect('no error is unexpected', isExpected, () => text);
  };
  const logger = createLogger({ level: 'info', environment: 'test', destination: { write } });
  const ports = { hasher: plainPasswordHasher(), mailer: mailerOf(() => line.isDead) };
  const overrides = { counts, senderFor, providers, storage: storageOver(records), ports };
  keeping.now = [];
  const service = await compose(config, logger, overrides);
  const kept = keeping.now;
  keeping.now = null;
  const stop = new AbortController();
  const { eventsRetention, accessLifetime } = config;
  void purge({ ...service.ports, eventsRetention, accessLifetime }, logger, stop.signal, undefined, PURGE_INTERVAL);
  void service.mail?.deliver(stop.signal, { pollInterval: POLL_INTERVAL });
  void service.webhooks.deliver(stop.signal, { pollInterval: POLL_INTERVAL });
  return {
    ...{ line, service, kept },
    /** What is not as the OpenAPI document says. Pages are not in it. */
    problemsOf({ method, path }: Asked, answer: Answer): string[] {
      check ??= answerCheckOf(service.routes.filter(({ visitor }) => visitor === undefined));
      return /json/.test(answer.headers['content-type'] ?? '') ? check(method, path, answer) : [];
    },
    /** The process is gone: nothing that it would do happens any more. */
    kill(): void {
      kill();
      stop.abort();
    },
    request: (asked: Asked) => requestOver(service.http.request, stop.signal, asked),
  };
};

/** The answer is `null` if the process dies or the client hangs up before. */
const requestOver = (
  handle: RunningService['http']['request'],
  signal: AbortSignal,
  { method, path: url, headers, body, address: remoteAddress }: Asked,
) => {
  const stream = new PassThrough({ highWaterMark: 2 ** 24, signal }).on('error', () => undefined);
  const socket = Object.assign(stream, { remoteAddress }) as unknown as Socket;
  const length = body !== undefined && { 'content-length': String(Buffer.byteLength(body)) };
  const all = { host: new URL(BASE).host, ...headers, ...length };
  const head = { method, url, headers: all, rawHeaders: Object.entries(all).flat(), complete: true };
  const incoming = Object.assign(new IncomingMessage(socket), head);
  if (body !== undefined) incoming.push(body);
  incoming.push(null);
  // Node would ask the real time, and keep it by a real timer.
  const outgoing = Object.assign(new ServerResponse(incoming), { sendDate: false, useChunkedEncodingByDefault: false });
  outgoing.assignSocket(socket);
  const answer = new Promise<Answer | null>((resolve) => {
    outgoing.on('finish', () => {
      const headers = outgoing.getHeaders() as Answer['headers'];
      const [, text = ''] = `${stream.read(stream.readableLength)}`.split(/\r\n\r\n(.*)/s);
      resolve({ status: outgoing.statusCode, headers, cookies: [headers['set-cookie'] ?? []].flat(), body: text });
    });
    socket.on('close', () => resolve(null));
  }).finally(() => socket.destroy());
  handle(incoming, outgoing);
  return { answer, hangUp: () => void socket.destroy() };
};
