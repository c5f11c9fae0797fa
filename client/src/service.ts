import { AuthError } from './auth-error.ts';
import { baseOf } from './base-url.ts';
import { diagnosis } from './diagnosis.ts';
import { browser, sleep } from './host.ts';
import { dataOf } from './response.ts';
import type { AuthClientOptions, RefreshResult } from './types.ts';

/** Milliseconds; the service itself gives up after 30 seconds. */
const TIMEOUT = 40_000;

/** The requests to the service. Every failure is an AuthError. */
export const service = (options: AuthClientOptions) => {
  const base = baseOf(options.baseUrl);
  const setCookies: string[] = [];
  let { cookie } = options;

  const get = options.fetch ?? fetch;
  const { noResponse, ...known } = diagnosis(base, get);
  /** Whether the service gets a request, and not another program at its origin. */
  const isOurs = ({ url }: Request): boolean => url.startsWith(`${base}/`);

  /** Sends and receives the refresh cookie, if it is an option. @returns the response, whatever its status. */
  const send = async (request: Request): Promise<Response> => {
    const own = isOurs(request);
    const sent = own && cookie;
    if (sent) request.headers.set('Cookie', sent);
    const response = await get(request).catch(async (cause: unknown) => {
      throw request.signal.aborted ? cause : await noResponse(request.url, own, cause);
    });
    for (const line of sent ? response.headers.getSetCookie() : []) {
      setCookies.push(line);
      if (line.startsWith('refresh_token=')) cookie = line.split(';')[0];
    }
    return response;
  };

  const request = (method: string, path: string, body?: object): Request =>
    new Request(base + path, {
      method,
      // `undefined` without a body.
      ...(body && { headers: { 'Content-Type': 'application/json' } }),
      body: JSON.stringify(body),
      credentials: 'include',
      redirect: 'error',
      // The browser finishes the request, and stores its cookie, even if the page is left.
      keepalive: true,
    });

  /** A request that takes too long is not aborted: the cookie of its response would be lost. */
  const call = <Data>(method: string, path: string, body?: object): Promise<Data> => {
    const answer = send(request(method, path, body)).then(dataOf<Data>);
    const timeout = sleep(TIMEOUT).then(() => {
      throw new AuthError('CLIENT_NETWORK_TIMEOUT', `No response: ${path}`, { retryable: true });
    });
    return Promise.race([answer, timeout]);
  };

  return {
    ...{ ...known, base, setCookies, isOurs, send, request, call },
    /** Another pair of tokens; nothing if it is refused. */
    exchange: () =>
      call<RefreshResult>('POST', '/auth/refresh-token').catch((error: AuthError) => {
        if (error.code !== 'AUTH_FAILED') throw error;
      }),
    endSession: () => call('GET', '/auth/clear-cookie'),
    /** Whether there may be a refresh cookie at all. */
    hasCookie: !!(browser() ?? cookie),
  };
};
