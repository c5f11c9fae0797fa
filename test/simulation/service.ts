import { createHash } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { TokenKeys } from '../../src/adapters/crypto/token-keys.ts';
import type { Counts } from '../../src/adapters/limits/counts.ts';
import { storageOver } from '../../src/adapters/records/storage.ts';
import type { SenderFor } from '../../src/application/ports/hooks.ts';
import type { Mailer } from '../../src/application/ports/mailer.ts';
import type { PasswordHasher } from '../../src/application/ports/password-hasher.ts';
import { compose, type RunningService } from '../../src/infrastructure/compose.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { createLogger } from '../../src/infrastructure/logging/logger.ts';
import { purge } from '../../src/infrastructure/purge.ts';
import { type AnswerCheck, answerCheckOf } from '../support/openapi/answer-check.ts';
import type { Chance } from './chance.ts';
import type { SimulatedDatabase } from './database.ts';
import { MINUTE } from './kernel.ts';

/** Instances of the service, with the whole pipeline of a request. */

export const [BASE, APPLICATION] = ['https://auth.example.com', 'https://app.example.com'] as const;
/** Milliseconds. In 5 seconds, as the service does it, polls would be half of all that happens. */
const [POLL_INTERVAL, PURGE_INTERVAL] = [2 * MINUTE, 10 * MINUTE];

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string;
};
export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly address: string;
};
/** What instances share. */
export type Surroundings = {
  readonly database: SimulatedDatabase;
  readonly chance: Chance;
  readonly settings: Readonly<Record<string, string>>;
  readonly counts: Counts;
  readonly mailerOf: (isDead: () => boolean) => Mailer;
  readonly senderFor: SenderFor;
  readonly log: (line: string) => void;
};
export type Instance = Awaited<ReturnType<typeof openInstance>>;

const digest = (password: string) => `$2b$04$${createHash('sha256').update(password).digest('base64url')}`;
/** Without the cost of bcrypt. */
const hasher: PasswordHasher = {
  hash: async (password) => digest(password),
  verify: async (password, hash) => hash === digest(password),
  needsRehash: () => false,
};

/** @param keys of the tokens: the same for all instances */
export const openInstance = async (around: Surroundings, keys: TokenKeys) => {
  const { line, records, kill } = around.database.connect();
  const config = {
    ...parseConfig({
      NODE_ENV: 'test',
      BASE_URL: BASE,
      ALLOWED_ORIGINS_DEV: APPLICATION,
      FACTOR_KEYS: Buffer.alloc(32, 7).toString('base64url'),
      ...around.settings,
    }),
    keys,
  };
  const destination = { write: (text: string) => void (line.isDead || around.log(text)) };
  const logger = createLogger({ level: 'info', environment: 'test', destination });
  const service = await compose(config, logger, {
    storage: storageOver(records),
    ports: { hasher, mailer: around.mailerOf(() => line.isDead) },
    counts: around.counts,
    senderFor: around.senderFor,
  });
  const stop = new AbortController();
  const sockets = new Set<Duplex>();
  const { eventsRetention, accessLifetime } = config;
  void purge({ ...service.ports, eventsRetention, accessLifetime }, logger, stop.signal, undefined, PURGE_INTERVAL);
  void service.mail?.deliver(stop.signal, { pollInterval: POLL_INTERVAL });
  void service.webhooks.deliver(stop.signal, { pollInterval: POLL_INTERVAL });
  return {
    ...{ line, service },
    /** What is not as the OpenAPI document says. Pages are not in it. */
    problemsOf: ({ method, path }: Asked, answer: Answer): string[] =>
      /json/.test(answer.headers['content-type'] ?? '') ? checkFor(around.settings, service)(method, path, answer) : [],
    isUp: () => !line.isDead,
    /** The process is gone: nothing that it would do happens any more. */
    kill() {
      kill();
      for (const socket of sockets) socket.destroy();
      stop.abort();
    },
    request: (asked: Asked) => requestOver(sockets, service.http.request, asked),
  };
};

/** A check takes long to make. */
const checks = new Map<string, AnswerCheck>();
const checkFor = (settings: object, { routes }: RunningService): AnswerCheck => {
  const name = JSON.stringify(settings);
  const check = checks.get(name) ?? answerCheckOf(routes.filter(({ visitor }) => visitor === undefined));
  checks.set(name, check);
  return check;
};

class SimulatedSocket extends Duplex {
  readonly chunks: Buffer[] = [];
  readonly remoteAddress: string;
  constructor(address: string) {
    super();
    this.remoteAddress = address;
  }
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.chunks.push(chunk);
    done();
  }
}

/** @returns the answer, `null` if the process dies or the client hangs up before */
const requestOver = (
  sockets: Set<Duplex>,
  handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
  { method, path, headers, body, address }: Asked,
) => {
  const socket = new SimulatedSocket(address);
  sockets.add(socket);
  const incoming = new IncomingMessage(socket as unknown as Socket);
  const all = { host: new URL(BASE).host, ...headers };
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  Object.assign(incoming, { method, url: path, headers: { ...all, ...length }, complete: true });
  Object.assign(incoming, { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 });
  incoming.rawHeaders = Object.entries(incoming.headers).flat() as string[];
  if (body !== undefined) incoming.push(body);
  incoming.push(null);
  const outgoing = new ServerResponse(incoming);
  // Node would ask the real time, and keep it by a real timer.
  Object.assign(outgoing, { sendDate: false, useChunkedEncodingByDefault: false });
  outgoing.assignSocket(socket as unknown as Socket);
  const answer = new Promise<Answer | null>((resolve) => {
    const end = (value: Answer | null) => {
      sockets.delete(socket);
      resolve(value);
    };
    outgoing.on('finish', () => end(parsed(Buffer.concat(socket.chunks).toString())));
    socket.on('close', () => end(null));
  });
  handle(incoming, outgoing);
  return { answer, hangUp: () => void socket.destroy() };
};

const parsed = (text: string): Answer => {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const pairs = lines.map((line): [string, string] => {
    const at = line.indexOf(':');
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
  });
  const cookies = pairs.filter(([name]) => name === 'set-cookie').map(([, value]) => value);
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(pairs),
    cookies,
    body: text.slice(end + 4),
  };
};
