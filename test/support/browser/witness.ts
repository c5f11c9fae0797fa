import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { vi } from 'vitest';
import { listenOnLoopback } from './listen.ts';

/** What a browser sent, and whether it was served. */
export type Seen = {
  readonly method: string;
  readonly path: string;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`. */
  readonly site: string | undefined;
  /** Whether the refresh cookie came along. */
  readonly cookie: boolean;
  readonly status: number;
  /** Whether the answer told the browser to change a cookie. */
  readonly setsCookie: boolean;
};

type Watch = {
  /** Everything so far, in the order in which it was answered. */
  readonly seen: () => readonly Seen[];
  /** Waits for the first request to that path. */
  readonly sees: (path: string) => Promise<Seen>;
};

export type Witness = {
  readonly port: number;
  /** What comes from now on. */
  readonly watch: () => Watch;
  /** Lets the next requests go on when there are so many of them, preflights apart. */
  readonly gather: (count: number) => void;
  /** Holds the next request back, preflights apart, until so many of those behind it have been answered 200. */
  readonly holdBack: (successes: number) => void;
  readonly close: () => Promise<void>;
};

/** Stands between a browser and the service, and remembers what passes. Nothing that passes is changed. */
export const witness = async (service: string): Promise<Witness> => {
  const all: Seen[] = [];
  let gate = async (): Promise<void> => undefined;
  let onSuccess = (): void => undefined;
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.method !== 'OPTIONS') await gate();
    const { method, headers } = incoming;
    const forwarded = request(new URL(incoming.url ?? '/', service), { method, headers }, (answer) => {
      all.push(passed(incoming, answer));
      if (answer.statusCode === 200) onSuccess();
      passOn(answer, outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  return {
    watch: () => {
      const start = all.length;
      const seen = () => all.slice(start);
      return { seen, sees: (path) => vi.waitFor(() => firstTo(path, seen()), { timeout: 5_000, interval: 10 }) };
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
    holdBack: (successes) => {
      let [isFirst, missing] = [true, successes];
      const released = Promise.withResolvers<void>();
      onSuccess = () => {
        missing -= 1;
        if (missing === 0) released.resolve();
      };
      gate = async () => {
        if (!isFirst) return;
        isFirst = false;
        await released.promise;
      };
    },
    ...(await listenOnLoopback(server)),
  };
};

const firstTo = (path: string, seen: readonly Seen[]): Seen => {
  const found = seen.find((each) => each.path === path);
  if (found === undefined) throw new Error(`nothing came to ${path}, but ${JSON.stringify(seen)}`);
  return found;
};

const passed = ({ method = '', url = '', headers }: IncomingMessage, answer: IncomingMessage): Seen => ({
  method,
  path: url.replace(/\?$/, ''),
  origin: headers.origin,
  site: [headers['sec-fetch-site']].flat()[0],
  cookie: /(^|; )refresh_token=./.test(headers.cookie ?? ''),
  status: answer.statusCode ?? 0,
  setsCookie: answer.headers['set-cookie'] !== undefined,
});

const passOn = (answer: IncomingMessage, outgoing: ServerResponse): void => {
  outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
  answer.pipe(outgoing);
};
