import { createServer, type IncomingMessage } from 'node:http';
import { vi } from 'vitest';
import { forward, relay } from '../forward.ts';
import { listenOnLoopback } from '../listen.ts';

/** A request of a browser, and the status of its response. */
export type Seen = {
  readonly method: string;
  readonly path: string;
  readonly origin: string | undefined;
  /** The header `Sec-Fetch-Site`. */
  readonly site: string | undefined;
  /** Whether the request has the refresh cookie. */
  readonly cookie: boolean;
  readonly status: number;
  /** Whether the response sets a cookie. */
  readonly setsCookie: boolean;
};

type Watch = {
  /** The requests so far, in the order of their responses. */
  readonly seen: () => readonly Seen[];
  /** Waits for the first request to a path. */
  readonly sees: (path: string) => Promise<Seen>;
};

export type Witness = {
  readonly port: number;
  /** Records requests from now on. */
  readonly watch: () => Watch;
  /** Delays the next requests, except preflights, until `count` of them have arrived. */
  readonly gather: (count: number) => void;
  /** Holds back the response to the next request to a path, and all later requests to it. */
  readonly hold: (path: string) => Held;
  readonly close: () => Promise<void>;
};

/** Stands for a response that is lost. */
const LOST = Symbol('lost');

type Held = {
  /** Resolves when the service has sent the response. */
  readonly arrived: Promise<void>;
  /** Resolves when a later request waits. */
  readonly followed: Promise<void>;
  readonly letGo: () => void;
  /** Drops the response, and closes its connection. Later responses are not held back. */
  readonly lose: () => void;
};

/** A proxy between a browser and the service. It records requests, and passes them on unchanged. */
export const witness = async (service: string, port?: number): Promise<Witness> => {
  const all: Seen[] = [];
  let gate = async (_path = ''): Promise<void> => undefined;
  let returnGate = async (_path = ''): Promise<unknown> => undefined;
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.method !== 'OPTIONS') await gate(incoming.url);
    const answer = async (response: IncomingMessage) => {
      all.push(recordOf(incoming, response));
      const gone = incoming.method !== 'OPTIONS' && (await returnGate(incoming.url)) === LOST;
      if (gone) outgoing.destroy();
      else relay(response, outgoing);
    };
    forward(incoming, outgoing, new URL(incoming.url ?? '/', service), { answer });
  });
  return {
    watch: () => {
      const start = all.length;
      const seen = () => all.slice(start);
      return { seen, sees: (path) => vi.waitFor(() => firstTo(path, seen()), { timeout: 60_000, interval: 10 }) };
    },
    gather: (count) => {
      let missing = count;
      const complete = Promise.withResolvers<void>();
      gate = async () => {
        missing -= 1;
        if (missing <= 0) complete.resolve();
        await complete.promise;
      };
    },
    hold: (held) => {
      const [arrived, followed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const released = Promise.withResolvers<unknown>();
      let isFirst = true;
      gate = async (path) => {
        if (path !== held) return;
        if (!isFirst) {
          followed.resolve();
          await released.promise;
        }
        isFirst = false;
      };
      returnGate = async (path) => {
        if (path !== held) return undefined;
        arrived.resolve();
        return released.promise;
      };
      const letGo = () => released.resolve(undefined);
      const lose = () => {
        returnGate = async () => undefined;
        released.resolve(LOST);
      };
      return { arrived: arrived.promise, followed: followed.promise, letGo, lose };
    },
    ...(await listenOnLoopback(server, port)),
  };
};

const firstTo = (path: string, seen: readonly Seen[]): Seen => {
  const found = seen.find((each) => each.path === path);
  if (found === undefined) throw new Error(`no request to ${path}, only ${JSON.stringify(seen)}`);
  return found;
};

const recordOf = ({ method = '', url = '', headers }: IncomingMessage, response: IncomingMessage): Seen => ({
  method,
  path: url.replace(/\?$/, ''),
  origin: headers.origin,
  site: [headers['sec-fetch-site']].flat()[0],
  cookie: /(^|; )refresh_token=./.test(headers.cookie ?? ''),
  status: response.statusCode ?? 0,
  setsCookie: response.headers['set-cookie'] !== undefined,
});
