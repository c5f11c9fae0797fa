import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { storageOver } from '../../src/adapters/records/storage.ts';
import type { Mailer } from '../../src/application/ports/mailer.ts';
import { compose, type RunningService } from '../../src/infrastructure/compose.ts';
import { type Config, parseConfig } from '../../src/infrastructure/config.ts';
import { createLogger } from '../../src/infrastructure/logging/log.ts';
import { purge } from '../../src/infrastructure/serve.ts';
import { plainPasswordHasher } from '../support/fakes.ts';
import { type AnswerCheck, answerCheckOf } from '../support/openapi/answer-check.ts';
import type { SimulatedDatabase } from './database.ts';
import { MINUTE } from './kernel.ts';
import { keeping } from './process.ts';

/** Instances of the service, with the whole pipeline of a request. */

export const [BASE, APPLICATION] = ['https://auth.example.com', 'https://app.example.com'] as const;
export const APP_LINK = 'com.example.app:/signed-in';
/** Milliseconds. In 5 seconds, as the service does it, polls would be half of all that happens. */
const [POLL_INTERVAL, PURGE_INTERVAL] = [2 * MINUTE, 10 * MINUTE];

export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly address: string;
};
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string;
};
export const json = (body: object) => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
type Overrides = NonNullable<Parameters<typeof compose>[2]>;
/** What instances share. */
export type Surroundings = Omit<Overrides, 'storage' | 'ports'> & {
  readonly database: SimulatedDatabase;
  readonly settings: Readonly<Record<string, string>>;
  readonly config: Partial<Config>;
  readonly mailerOf: (isDead: () => boolean) => Mailer;
  readonly log: (line: string) => void;
};
export type Instance = Awaited<ReturnType<typeof openInstance>>;

const FACTOR_KEYS = Buffer.alloc(32, 7).toString('base64url');
const SETTINGS = { NODE_ENV: 'test', BASE_URL: BASE, ALLOWED_ORIGINS_DEV: APPLICATION, FACTOR_KEYS };

export const openInstance = async ({ database, settings, mailerOf, log, ...others }: Surroundings) => {
  const { line, records, kill } = database.connect();
  const config = { ...parseConfig({ ...SETTINGS, ...settings }), ...others.config };
  const destination = { write: (text: string) => void (line.isDead || log(text)) };
  const logger = createLogger({ level: 'info', environment: 'test', destination });
  const ports = { hasher: plainPasswordHasher(), mailer: mailerOf(() => line.isDead) };
  const kept: NonNullable<typeof keeping.now> = [];
  keeping.now = kept;
  const service = await compose(config, logger, { ...others, storage: storageOver(records), ports });
  keeping.now = null;
  const stop = new AbortController();
  const sockets = new Set<Duplex>();
  const { eventsRetention, accessLifetime } = config;
  void purge({ ...service.ports, eventsRetention, accessLifetime }, logger, stop.signal, undefined, PURGE_INTERVAL);
  void service.mail?.deliver(stop.signal, { pollInterval: POLL_INTERVAL });
  void service.webhooks.deliver(stop.signal, { pollInterval: POLL_INTERVAL });
  return {
    ...{ line, service, kept },
    /** What is not as the OpenAPI document says. Pages are not in it. */
    problemsOf: ({ method, path }: Asked, answer: Answer): string[] =>
      /json/.test(answer.headers['content-type'] ?? '') ? checkFor(service)(method, path, answer) : [],
    isUp: () => !line.isDead,
    /** The process is gone: nothing that it would do happens any more. */
    kill(): void {
      kill();
      for (const socket of sockets) socket.destroy();
      stop.abort();
    },
    request: (asked: Asked) => requestOver(sockets, service.http.request, asked),
  };
};

let check: AnswerCheck | undefined;
/** It takes long to make, and no setting of a world changes it. */
const checkFor = ({ routes }: RunningService): AnswerCheck => {
  check ??= answerCheckOf(routes.filter(({ visitor }) => visitor === undefined));
  return check;
};

/** The answer is `null` if the process dies or the client hangs up before. */
const requestOver = (
  sockets: Set<Duplex>,
  handle: RunningService['http']['request'],
  { method, path: url, headers, body, address: remoteAddress }: Asked,
) => {
  const chunks: Buffer[] = [];
  const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
    chunks.push(chunk);
    done();
  };
  const socket = Object.assign(new Duplex({ read: () => undefined, write }), { remoteAddress }) as unknown as Socket;
  sockets.add(socket);
  const length = body !== undefined && { 'content-length': String(Buffer.byteLength(body)) };
  const all = { host: new URL(BASE).host, ...headers, ...length };
  const version = { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 };
  const head = { method, url, headers: all, rawHeaders: Object.entries(all).flat(), ...version };
  const incoming = Object.assign(new IncomingMessage(socket), { ...head, complete: true });
  if (body !== undefined) incoming.push(body);
  incoming.push(null);
  // Node would ask the real time, and keep it by a real timer.
  const outgoing = Object.assign(new ServerResponse(incoming), { sendDate: false, useChunkedEncodingByDefault: false });
  outgoing.assignSocket(socket);
  const answer = new Promise<Answer | null>((resolve) => {
    outgoing.on('finish', () => resolve(answerOf(outgoing, Buffer.concat(chunks).toString())));
    socket.on('close', () => resolve(null));
  }).finally(() => sockets.delete(socket));
  handle(incoming, outgoing);
  return { answer, hangUp: () => void socket.destroy() };
};

const answerOf = (outgoing: ServerResponse, text: string): Answer => {
  const headers = outgoing.getHeaders() as Answer['headers'];
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  return { status: outgoing.statusCode, headers, cookies: [headers['set-cookie'] ?? []].flat(), body };
};
