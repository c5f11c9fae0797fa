import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout } from 'node:timers/promises';
import { Mismatch } from './outcome.ts';

export type Request = {
  readonly method: string;
  /** Below the address of the instance. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a string as it is. */
  readonly body?: object | string;
};

export type Reply = {
  /** Method and path of the request. */
  readonly to: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly setCookies: readonly string[];
  readonly text: string;
};

export type ClientOptions = {
  readonly url: URL;
  /** Milliseconds that one exchange may take. */
  readonly timeout: number;
  /** Seconds that the run may spend on waiting for rate limits, in all. */
  readonly patience: number;
  readonly onWait: (seconds: number) => void;
  readonly onReply: (reply: Reply) => void;
};

export type Client = {
  /** Sends a request. If the response is 429, waits as `Retry-After` says and sends it again. */
  readonly send: (request: Request) => Promise<Reply>;
  /** Sends a request and returns whatever comes back, a 429 included. */
  readonly sendOnce: (request: Request) => Promise<Reply>;
};

const LARGEST_BODY = 1024 * 1024;

/** Seconds, given as such or as a date (RFC 9110 §10.2.3). `NaN` without the header, or with another value. */
export const retryAfterOf = ({ headers: { 'retry-after': value = '' } }: Reply): number =>
  /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1000);

/** No redirect is followed, and no cookie is kept: each check says what it sends. */
export const newClient = ({ url, timeout, patience, onWait, onReply }: ClientOptions): Client => {
  let patienceLeft = patience;
  const sendOnce = async (request: Request): Promise<Reply> => {
    const reply = await exchange(url, request, timeout);
    onReply(reply);
    return reply;
  };
  return {
    sendOnce,
    send: async (request) => {
      for (;;) {
        const reply = await sendOnce(request);
        if (reply.status !== 429) return reply;
        const seconds = Math.max(1, retryAfterOf(reply));
        if (!(seconds <= patienceLeft)) return reply;
        patienceLeft -= seconds;
        onWait(seconds);
        await setTimeout(seconds * 1000);
      }
    },
  };
};

const exchange = async (url: URL, { method, path, headers, body }: Request, timeout: number): Promise<Reply> => {
  const to = `${method} ${path}`;
  const content = typeof body === 'object' ? JSON.stringify(body) : body;
  const describe = (error: Error & { readonly code?: string }): Mismatch =>
    new Mismatch(
      `a response to ${to}`,
      error.name === 'TimeoutError' || error.code === 'ABORT_ERR'
        ? `none in ${timeout} ms`
        : `${error.code ?? error.message}`,
    );
  try {
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = (url.protocol === 'https:' ? requestHttps : requestHttp)(
        new URL(url.origin),
        {
          agent: false,
          method,
          path: `${url.pathname.replace(/\/$/, '')}${path}`,
          signal: AbortSignal.timeout(timeout),
          headers: {
            ...(content !== undefined && {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(content),
            }),
            ...headers,
          },
        },
        resolve,
      );
      outgoing.on('error', reject);
      outgoing.end(content);
    });
    return {
      to,
      status: incoming.statusCode ?? 0,
      headers: incoming.headers,
      setCookies: incoming.headers['set-cookie'] ?? [],
      text: await textOf(incoming, to),
    };
  } catch (error) {
    throw error instanceof Mismatch ? error : describe(error as Error);
  }
};

const textOf = async (incoming: IncomingMessage, to: string): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming) {
    length += chunk.length;
    if (length > LARGEST_BODY)
      throw new Mismatch(`a response to ${to} of at most ${LARGEST_BODY} bytes`, 'a larger one');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};
