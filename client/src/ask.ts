import { AuthError } from './auth-error.ts';
import { baseOf, dataOf } from './response.ts';
import type { AccountClientOptions } from './types.ts';

/** Makes the function that sends the requests of the modules beside the AuthClient. It rejects with an AuthError, or as `onStepUp` does. */
export const createAsk = ({ baseUrl, fetch: send = fetch }: AccountClientOptions) => {
  const base = baseOf(baseUrl);
  const responseTo = (method: string, path: string, body?: object): Promise<Response> =>
    send(base + path, {
      method,
      ...(body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
      credentials: 'include',
    }).catch((cause: unknown) => {
      // `fetch` itself rejects with a TypeError.
      if (!(cause instanceof TypeError)) throw cause;
      throw new AuthError('CLIENT_NETWORK_FAILED', `No response: ${path}`, { cause, retryable: true });
    });
  return async <Data>(method: string, path: string, body?: object): Promise<Data> =>
    dataOf<Data>(await responseTo(method, path, body));
};
