import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { memoryCounts } from '../../src/adapters/limits/counts.ts';
import { storageOver } from '../../src/adapters/records/storage.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { compose, type RunningService } from '../../src/infrastructure/compose.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { createLogger } from '../../src/infrastructure/logging/log.ts';
import { purge } from '../../src/infrastructure/serve.ts';
import { plainPasswordHasher } from '../support/fakes.ts';
import { ALL_ROUTES } from '../support/http/all-routes.ts';
import { testKeys } from '../support/keys.ts';
import { type AnswerCheck, answerCheckOf } from '../support/openapi/answer-check.ts';
import { database } from './database.ts';
import { type Chance, expect, kernel, MINUTE, perWorld, tell } from './kernel.ts';
import { watch } from './process.ts';
import { type Answer, APPLICATION, type Asked, BASE } from './requests.ts';
import { facts, faultWithin, forgotSince, world } from './world.ts';

/** Instances of the service with all stages of a request, and the servers that they share beside the database. */

/** How often calls of other servers fail, or their replies are lost, from 0 to 1. */
export const ALL_WELL = { mail: 0, replies: 0, hooks: 0, hookReplies: 0, providers: 0, counts: 0 };
export const outside = perWorld(() => ({ ...ALL_WELL }));
type Given = Required<NonNullable<Parameters<typeof compose>[2]>>;
type Mailer = NonNullable<RunningService['ports']['mailer']>;

const mailServer =
  (chance: Chance) =>
  (isDead: () => boolean): Mailer => ({
    async send({ id, to, subject, text }) {
      await kernel.sleep(chance.between(20, 800));
      if (isDead()) return new Promise(() => undefined);
      facts.refused.set(id, kernel.time);
      if (chance.happens(outside.mail)) throw new Error('the mail server is away');
      facts.refused.delete(id);
      tell(`mail to ${to}: ${subject}`);
      const isSent = facts.letters.some((letter) => letter.id === id);
      expect('a mail goes out once', !isSent, () => subject, faultWithin(10 * MINUTE));
      facts.letters.push({ id, to, text });
      if (chance.happens(outside.replies)) throw new Error('the reply of the mail server was lost');
      return 'sent';
    },
  });

const receiver = (chance: Chance): Given['senderFor'] => {
  const [last, ids] = [new Map<string, number>(), new Map<string, string>()];
  return async () => async (message) => {
    await kernel.sleep(chance.between(5, 3_000));
    if (chance.happens(outside.hooks)) return { status: 500, retryAfter: 0 };
    const { id, sequence, data } = message as unknown as { id: string; sequence: number; data: { userId: string } };
    const [{ userId }, event] = [data, `${data.userId} ${sequence}`];
    const isNext = id === (ids.get(event) ?? id) && sequence <= (last.get(userId) ?? 0) + 1;
    expect('webhooks come in order', isNext, () => `${event} after ${last.get(userId)}`, forgotSince(0));
    ids.set(event, id);
    last.set(userId, Math.max(last.get(userId) ?? 0, sequence));
    if (chance.happens(outside.hookReplies)) throw new Error('no answer');
    return { status: 204, retryAfter: 0 };
  };
};

/** An identity provider without log-ins: the code in its answer is the name of the user. */
export const PROVIDER = { url: 'https://acme.example', callback: '/auth/oidc/acme/callback' };
const providers = (chance: Chance): Given['providers'] => {
  const callback = { url: BASE + PROVIDER.callback, isPosted: false };
  const acme = {
    ...{ name: 'acme', title: 'Acme', callback, begin: async ({ state = '' }) => `${PROVIDER.url}/?state=${state}` },
    async complete({ state = '' }, answer: string) {
      await kernel.sleep(chance.between(20, 800));
      if (chance.happens(outside.providers)) throw new AppError('SYS_PROVIDER_UNAVAILABLE');
      const [said, subject] = [new URLSearchParams(answer), new URLSearchParams(answer).get('code')];
      if (said.get('state') !== state || !subject) throw new AppError('AUTH_IDENTITY_UNPROVEN');
      const email = `${subject}@example.org`;
      return { provider: 'acme', issuer: PROVIDER.url, subject, email, isEmailVerified: true };
    },
  };
  return new Map([['acme', acme]]);
};

const failingCounts = (chance: Chance): Given['counts'] => {
  const counts = memoryCounts();
  const reach = async (): Promise<void> => {
    if (chance.happens(outside.counts)) throw new Error('the counts are away');
  };
  return {
    countRequest: (...given) => reach().then(() => counts.countRequest(...given)),
    replace: (...given) => reach().then(() => counts.replace(...given)),
  };
};

/** The configuration, the keys and the servers that all instances share. */
export const deployment = perWorld((chance) => {
  const { APP_LINKS, ADOPTION_PUBLIC_KEY } = ALL_ROUTES;
  const settings = {
    ...{ NODE_ENV: 'test', BASE_URL: BASE, ALLOWED_ORIGINS_DEV: APPLICATION, APP_LINKS, ADOPTION_PUBLIC_KEY },
    ...{ FACTOR_KEYS: 'A'.repeat(43), JWT_ACCESS_EXPIRES_IN: '15m', LOGIN_BY_CODE: 'on' },
    DEVICE_BINDING: world.binding ? 'enforce' : 'off',
    JWT_BINDING: world.binding && world.bindsTokens ? 'on' : 'off',
    NEW_DEVICE_CODE: world.newDeviceCode,
    PASSWORDS: world.needsPasswords ? 'required' : 'optional',
    JWT_REFRESH_EXPIRES_IN: world.lifetime,
    JWT_REFRESH_REPLAY_WINDOW: world.replays ? '10s' : '0',
  };
  const [mailerOf, senderFor] = [mailServer(chance.fork()), receiver(chance.fork())];
  const others = { counts: failingCounts(chance.fork()), providers: providers(chance.fork()) };
  return { settings, keys: testKeys(), mailerOf, senderFor, ...others };
});

/** Made once, since that takes long, and it is the same in all worlds. */
let check: AnswerCheck | undefined;
/** The differences between an answer in JSON and the OpenAPI document. Pages are not described there. */
export const problemsOf = ({ service }: Instance, { method, path }: Asked, answer: Answer): string[] => {
  check ??= answerCheckOf(service.routes.filter(({ visitor }) => visitor === undefined));
  return /json/.test(answer.headers['content-type'] ?? '') ? check(method, path, answer) : [];
};

export type Instance = Awaited<ReturnType<typeof openInstance>>;
export const instances = perWorld((): Instance[] => []);

/** Milliseconds. With the service's own 5 seconds, half of all events of the simulation would be polls. */
const [POLLS, PURGE_INTERVAL] = [{ pollInterval: 2 * MINUTE }, 10 * MINUTE];

export const openInstance = async () => {
  const { settings, keys, mailerOf, ...shared } = deployment;
  const { line, records, close } = database.connect();
  const config = { ...parseConfig(settings), keys };
  const write = (text: string): void => {
    const isExpected = line.isDead || !/"level":"fatal"|"code":"SYS_(UNEXP|SERI)/.test(text);
    expect('no error is unexpected', isExpected, () => text);
  };
  const logger = createLogger({ level: 'info', nodeEnv: 'test', destination: { write } });
  const ports = { hasher: plainPasswordHasher(), mailer: mailerOf(() => line.isDead) };
  watch.kept = [];
  const service = await compose(config, logger, { ...shared, storage: storageOver(records), ports });
  const { kept } = watch;
  watch.kept = null;
  const stop = new AbortController();
  void purge({ ...service.ports, ...config }, logger, stop.signal, undefined, PURGE_INTERVAL);
  for (const sender of [service.mail, service.webhooks]) void sender?.deliver(stop.signal, POLLS);
  return {
    ...{ line, service, kept },
    /** Ends the process at once: none of its code has an effect any more. */
    kill(): void {
      line.isDead = true;
      close();
      stop.abort();
    },
    request: (asked: Asked) => requestOver(service.http.request, stop.signal, asked),
  };
};

/** Gives a request to the HTTP handler of an instance. The answer is `null` if the process is killed, or the client hangs up before. */
const requestOver = (handle: RunningService['http']['request'], signal: AbortSignal, asked: Asked) => {
  const { method, path: url, headers, body, address: remoteAddress } = asked;
  const stream = new PassThrough({ highWaterMark: 2 ** 24, signal }).on('error', () => undefined);
  const socket = Object.assign(stream, { remoteAddress }) as unknown as Socket;
  const length = body !== undefined && { 'content-length': String(Buffer.byteLength(body)) };
  const all = { host: new URL(BASE).host, ...headers, ...length };
  const head = { method, url, headers: all, rawHeaders: Object.entries(all).flat(), complete: true };
  const incoming = Object.assign(new IncomingMessage(socket), head);
  for (const part of body === undefined ? [null] : [body, null]) incoming.push(part);
  // Without a header Date, for which Node.js would use the real time and a real timer.
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
