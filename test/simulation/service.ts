import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { isDescribed } from '../../src/adapters/http/routing/define-route.ts';
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
import { expect, kernel, MINUTE, perWorld, trace } from './kernel.ts';
import { observed } from './process.ts';
import { type Answer, APPLICATION, BASE, type Request } from './requests.ts';
import { facts, faultWithin, forgotSince, world } from './world.ts';

/** Instances of the service with all stages of a request, and the servers that they share beside the database. */

/** How often calls of other servers fail, or their replies are lost, from 0 to 1. */
export const NO_FAILURES = { mail: 0, replies: 0, hooks: 0, hookReplies: 0, providers: 0, counts: 0 };
export const otherServers = perWorld((chance) => ({
  ...{ ...NO_FAILURES, chance, stored: memoryCounts() },
  /** The receiver's latest `numbers` by user, and the `ids` of its events by user and number. */
  ...{ numbers: new Map<string, number>(), ids: new Map<string, string>() },
}));
/** Calls another server. @throws AppError of the only kind that a provider may throw; mail, webhooks and counts may throw any error */
const callServer = async (what: keyof typeof NO_FAILURES, slowest = 0): Promise<void> => {
  const { chance } = otherServers;
  if (slowest > 0) await kernel.sleep(chance.between(5, slowest));
  if (chance.happens(otherServers[what])) throw new AppError('SYS_PROVIDER_UNAVAILABLE');
};
type Given = Required<NonNullable<Parameters<typeof compose>[2]>>;

const mailer = (isDead: () => boolean): RunningService['ports']['mailer'] => ({
  async send({ id, to, subject, text }) {
    facts.refused.set(id, kernel.time);
    await callServer('mail', 800);
    if (isDead()) return new Promise(() => undefined);
    facts.refused.delete(id);
    trace(`mail to ${to}: ${subject}`);
    const isSent = facts.letters.some((letter) => letter.id === id);
    expect('a mail goes out once', !isSent, () => subject, faultWithin(10 * MINUTE));
    facts.letters.push({ id, to, text });
    await callServer('replies');
    return 'sent';
  },
});

const senderFor: Given['senderFor'] = async () => async (message) => {
  await callServer('hooks', 3_000);
  if (otherServers.chance.happens(otherServers.hooks)) return { status: 500, retryAfter: 0 };
  const { id, sequence, data } = message as unknown as { id: string; sequence: number; data: { userId: string } };
  const [event, last] = [`${data.userId} ${sequence}`, otherServers.numbers.get(data.userId) ?? 0];
  const isNext = id === (otherServers.ids.get(event) ?? id) && sequence <= last + 1;
  expect('webhooks come in order', isNext, () => `${event} after ${last}`, forgotSince(0));
  otherServers.ids.set(event, id);
  otherServers.numbers.set(data.userId, Math.max(last, sequence));
  await callServer('hookReplies');
  return { status: 204, retryAfter: 0 };
};

/** An identity provider without log-ins: the code in its answer is the name of the user. */
export const PROVIDER = { url: 'https://acme.example', callback: '/auth/oidc/acme/callback' };
const providers: Given['providers'] = new Map([
  [
    'acme',
    {
      ...{ name: 'acme', title: 'Acme', callback: { url: BASE + PROVIDER.callback, isPosted: false } },
      begin: async ({ state }) => `${PROVIDER.url}/?state=${state}`,
      async complete({ state }, answer) {
        await callServer('providers', 800);
        const { state: own, code: subject = '' } = Object.fromEntries(new URLSearchParams(answer));
        if (own !== state || !subject) throw new AppError('AUTH_IDENTITY_UNPROVEN');
        const email = `${subject}@example.org`;
        return { provider: 'acme', issuer: PROVIDER.url, subject, email, isEmailVerified: true };
      },
    },
  ],
]);

const counts: Given['counts'] = {
  countRequest: (...given) => callServer('counts').then(() => otherServers.stored.countRequest(...given)),
  replace: (...given) => callServer('counts').then(() => otherServers.stored.replace(...given)),
};

/** The configuration and the keys that all instances share. */
export const deployment = perWorld(() => {
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
  return { settings, keys: testKeys() };
});

/** Checks by the names of an instance's routes. They take long to make, and few settings change the routes. */
const checks = new Map<string, AnswerCheck>();
/** The differences between an answer in JSON and the OpenAPI document. Pages are not described there. */
export const problemsOf = ({ service }: Instance, { method, path }: Request, answer: Answer): string[] => {
  const routes = service.routes.filter(isDescribed);
  const names = String(routes.map(({ name }) => name));
  const check = checks.get(names) ?? answerCheckOf(routes);
  checks.set(names, check);
  return /json/.test(answer.headers['content-type'] ?? '') ? check(method, path, answer) : [];
};

export type Instance = Awaited<ReturnType<typeof openInstance>>;
export const instances = perWorld((): Instance[] => []);

/** Milliseconds. With the service's own 5 seconds, half of all events of the simulation would be polls. */
const [POLLS, PURGE_INTERVAL] = [{ pollInterval: 2 * MINUTE }, 10 * MINUTE];

export const openInstance = async () => {
  const { settings, keys } = deployment;
  const { line, records, close } = database.connect();
  const config = { ...parseConfig(settings), keys };
  const write = (text: string): void => {
    const isExpected = line.isDead || !/"level":"fatal"|"code":"SYS_(UNEXP|SERI)/.test(text);
    expect('no error is unexpected', isExpected, () => text);
  };
  const logger = createLogger({ level: 'info', nodeEnv: 'test', destination: { write } });
  const ports = { hasher: plainPasswordHasher(), mailer: mailer(() => line.isDead) };
  observed.kept = [];
  const service = await compose(config, logger, { counts, senderFor, providers, storage: storageOver(records), ports });
  const { kept } = observed;
  observed.kept = null;
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
    request: (asked: Request) => requestOver(service, stop.signal, asked),
  };
};

/** Gives a request to the HTTP handler of an instance. The answer is `null` if the process is killed, or the client hangs up before. */
const requestOver = ({ http }: RunningService, signal: AbortSignal, asked: Request) => {
  const { method, path: url, headers, body, address: remoteAddress } = asked;
  const stream = new PassThrough({ highWaterMark: 2 ** 24, signal }).on('error', () => undefined);
  const socket = Object.assign(stream, { remoteAddress }) as unknown as Socket;
  const length = body !== undefined && { 'content-length': String(Buffer.byteLength(body)) };
  const all = { host: new URL(BASE).host, ...headers, ...length };
  const incoming = new IncomingMessage(socket);
  Object.assign(incoming, { method, url, headers: all, rawHeaders: Object.entries(all).flat(), complete: true });
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
  http.request(incoming, outgoing);
  return { answer, hangUp: () => void socket.destroy() };
};
