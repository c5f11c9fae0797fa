import { onTestFinished, vi } from 'vitest';
import { createAuthClient } from '../../client/src/index.ts';
import type { AuthClientOptions, AuthErrorCode } from '../../client/src/types.ts';
import { broadcastChannel, type Channel, documentWithFrames, type Frame, messageChannel } from './page-parts.ts';

export const BASE_URL = 'https://auth.example.com';
/** Seconds. */
export const LIFETIME = 900;

/** The id of the session in every token of this file. */
export const SID = 'id-of-session';

let tokens = 0;

/** An access token in the form that the service issues. @param iat in seconds since the epoch; it tells the client the service's time */
export const anAccessToken = ({ username = 'ada', iat = 1_000_000_000, ...more } = {}): string => {
  tokens += 1;
  const user = { id: `id-of-${username}`, username, email: `${username}@example.org`, createdAt: '', updatedAt: '' };
  const base = { sub: user.id, sid: SID, iat, exp: iat + LIFETIME, jti: `${tokens}`, tokenType: 'access', user };
  const claims = { ...base, ...more };
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
};

export const success = (data: unknown, init: ResponseInit = {}, context: object = {}): Response =>
  Response.json({ success: true, data, context: { requestId: 'request-1', ...context } }, init);

export const refusal = (code: AuthErrorCode | string, status: number, more: object = {}, headers = {}): Response =>
  Response.json(
    { success: false, code, message: code, details: null, context: { requestId: 'request-1' }, ...more },
    { status, headers },
  );

type Answer = (request: Request) => Response | Promise<Response>;

/** A `fetch` that answers instead of a service: each path gives its answers in turn, and repeats the last one. */
export const fakeTransport = (answers: Readonly<Record<string, readonly Answer[]>>) => {
  const requests: Request[] = [];
  const counts = new Map<string, number>();
  return {
    requests,
    /** `METHOD path` of the requests so far. */
    sent: () => requests.map(({ method, url }) => `${method} ${new URL(url).pathname}`),
    fetch: (async (input: string | Request) => {
      const request = new Request(input);
      requests.push(request);
      const { pathname } = new URL(request.url);
      const count = counts.get(pathname) ?? 0;
      counts.set(pathname, count + 1);
      const answer = answers[pathname]?.[count] ?? answers[pathname]?.at(-1);
      if (answer === undefined) throw new TypeError('fetch failed');
      return answer(request);
    }) as typeof fetch,
  };
};

type FakePage = {
  readonly hint?: string;
  readonly origin?: string;
  /** The path, query and fragment of the page's URL. */
  readonly at?: string;
};

/** Adds the globals of a page that Node.js does not have, with a visible document and an empty storage. */
export const fakePage = ({ hint, origin = 'https://app.example.com', at = '' }: FakePage = {}) => {
  const { href, hostname } = new URL(at, origin);
  /** The URLs to which the page has led the browser. */
  const visited: string[] = [];
  const storage = new Map<string, string>(hint === undefined ? [] : [[`tandem:${BASE_URL}`, hint]]);
  const page = new EventTarget();
  const document = Object.assign(new EventTarget(), { hidden: false });
  const navigator = { onLine: true };
  const channels = new Set<Channel>();
  const posted: unknown[] = [];
  /** Delivers a message of another page. */
  const hears = (data: unknown) => {
    for (const { hear } of channels) hear(data);
  };
  const location = { href, origin, hostname, assign: (url: string) => visited.push(url) };
  const globals = {
    document,
    navigator,
    location,
    history: {
      state: 'of the application',
      replaceState: (state: unknown, _title: string, url: string) => Object.assign(location, { href: url, state }),
    },
    localStorage: new Proxy(
      {},
      {
        get: (_target, key) => storage.get(String(key)),
        set: (_target, key, value) => Boolean(storage.set(String(key), String(value))),
      },
    ),
    BroadcastChannel: broadcastChannel(channels, (data) => posted.push(data)),
    addEventListener: page.addEventListener.bind(page),
    removeEventListener: page.removeEventListener.bind(page),
  };
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
  return {
    document,
    navigator,
    location,
    visited,
    storage,
    channels,
    posted,
    hears,
    happens: (type: string, members = {}) => page.dispatchEvent(Object.assign(new Event(type), members)),
  };
};

type Ask = (request: {
  readonly path: string;
  readonly create: boolean;
  readonly offset: number;
}) => string | false | undefined;

/**
 * Makes the page's frames act as the service's page with the device's key.
 * @param answer returns a proof for each request, or `false` if the key cannot be read; with `silent`, no request is answered
 * @param isThere whether the frame loads the page with the key; if not, an error page
 */
export const fakeFrame = (page: ReturnType<typeof fakePage>, answer: Ask | 'silent', isThere = true) => {
  const frames = new Set<Frame>();
  const asked: unknown[] = [];
  const load = (frame: Frame) =>
    queueMicrotask(() => {
      if (isThere) page.happens('message', { source: frame.contentWindow });
      frame.onload();
    });
  const made = documentWithFrames(frames, load, (_frame, data, origin, [port]) => {
    const request = data as Parameters<Ask>[0];
    asked.push({ ...request, origin });
    if (answer !== 'silent') port?.postMessage(answer(request));
  });
  Object.assign(page.document, made);
  vi.stubGlobal('MessageChannel', messageChannel());
  return { frames, asked };
};

/** A client that is disposed of at the end of the test. */
export const aClient = (options: Partial<AuthClientOptions>) => {
  const auth = createAuthClient({ baseUrl: BASE_URL, ...options });
  onTestFinished(auth.dispose);
  return auth;
};
