import { AuthError } from './auth-error.ts';
import { baseOf } from './base-url.ts';
import { diagnosis } from './diagnosis.ts';
import { browser, sleep } from './host.ts';
import { dataOf } from './response.ts';
import type { AuthClientOptions, Refreshed } from './types.ts';

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

  /** @returns the response, whatever its status. */
  const send = async (request: Request): Promise<Response> => {
    try {
      return await get(request);
    } catch (cause) {
      throw request.signal.aborted ? cause : await noResponse(request.url, isOurs(request), cause);
    }
  };

  const request = (method: string, path: string, body?: object): Request =>
    new Request(base + path, {
      method,
      headers: { ...(body && { 'Content-Type': 'application/json' }), ...(cookie && { Cookie: cookie }) },
      // `undefined` without a body.
      body: JSON.stringify(body),
      credentials: 'include',
      redirect: 'error',
      // The browser finishes the request, and stores its cookie, even if the page is left.
      keepalive: true,
    });

  /** Sends and receives the refresh cookie. A request that takes too long is not aborted: the cookie of its response would be lost. */
  const call = <Data>(method: string, path: string, body?: object): Promise<Data> => {
    const answer = send(request(method, path, body)).then((response) => {
      for (const line of cookie ? response.headers.getSetCookie() : []) {
        setCookies.push(line);
        if (line.startsWith('refresh_token=')) cookie = line.split(';')[0];
      }
      return dataOf<Data>(response);
    });
    const timeout = sleep(TIMEOUT).then(() => {
      throw new AuthError('CLIENT_NETWORK_TIMEOUT', `No response: ${path}`, { retryable: true });
    });
    return Promise.race([answer, timeout]);
  };

  return {
    ...{ ...known, base, setCookies, isOurs, send, request, call },
    /** Another pair of tokens; nothing if it is refused. */
    exchange: () =>
      call<Refreshed>('POST', '/auth/refresh-token').catch((error: AuthError) => {
        if (error.code !== 'AUTH_FAILED') throw error;
      }),
    endSession: () => call('GET', '/auth/clear-cookie'),
    /** Whether there may be a refresh cookie at all. */
    hasCookie: !!(browser() ?? cookie),
  };
};
