import { AuthError } from './auth-error.ts';
import { device } from './device.ts';
import { diagnosis } from './diagnosis.ts';
import { browser, sleep } from './host.ts';
import { baseOf, bodyOf, dataOf } from './response.ts';
import type { Token } from './token.ts';
import type { AuthClientOptions, Binding, RefreshResult } from './types.ts';

/** By default, the service itself gives up after 30 seconds. */
const TIMEOUT = 40_000;

/** How many times a renewal replaces a proof that is no longer valid. */
const PROOF_RETRIES = 3;

export type SessionAnswer = RefreshResult & { readonly binding?: Binding };

/** The error if there may be a key that cannot be read now. It is retryable, so the session does not end. */
const noKey = () => new AuthError('CLIENT_NETWORK_FAILED', 'No response: /device-key', { retryable: true });

/** The requests to the service. A failure is an AuthError, or the reason of an abort. */
export const service = (options: AuthClientOptions) => {
  const base = baseOf(options.baseUrl);
  const get = options.fetch ?? globalThis.fetch;
  const { noResponse, ...diagnosed } = diagnosis(base, get);
  const { proofFor, closeFrame } = device(base);
  /** Whether a request goes to the service, and not to another program at the same origin. */
  const isOurs = ({ url }: Request): boolean => url.startsWith(`${base}/`);

  const send = (request: Request): Promise<Response> =>
    get(request).catch(async (cause: unknown) => {
      throw request.signal.aborted ? cause : await noResponse(request, isOurs(request), cause);
    });

  const request = (method: string, path: string, body?: object): Request =>
    new Request(base + path, {
      method,
      ...(body && { headers: { 'Content-Type': 'application/json' } }),
      // `undefined` without a body.
      body: JSON.stringify(body),
      credentials: 'include',
      redirect: 'error',
      // The browser finishes the request, and stores its cookie, even if the page is left.
      keepalive: true,
    });

  /** A request that takes too long is not aborted: the cookie of its response would be lost. */
  const inTime = <Answer>(path: string, answer: Promise<Answer>): Promise<Answer> => {
    const timeout = sleep(TIMEOUT, true).then(() => {
      throw new AuthError('CLIENT_NETWORK_TIMEOUT', `No response: ${path}`, { retryable: true });
    });
    return Promise.race([answer, timeout]);
  };
  const call = <Data>(method: string, path: string, body?: object): Promise<Data> =>
    inTime(path, send(request(method, path, body)).then(dataOf<Data>));

  /**
   * Opens or renews a session, with a proof of the device if there can be one. A proof that is no longer valid is replaced by one with the time of
   * the service, and at a renewal then by one of a later second, since many tabs may have sent proofs of the same second. If the service still
   * refuses, a session is opened without a key, and a renewal fails.
   * @param bindingCode the code of a log-in at a provider, or at pages of the service that do not have the key of this page
   */
  const sendProven = async <Data extends RefreshResult | null>(path: string, body?: object, bindingCode?: string) => {
    let mayProve = true;
    for (let expired = 0; ; ) {
      const proofRequest = { path, create: !!(body || bindingCode), again: !!(bindingCode || expired) };
      const proof = mayProve && (await proofFor(proofRequest));
      const sent = send(request('POST', path, proof ? { ...body, proof, bindingCode } : body));
      const { response, code, context } = await inTime(
        path,
        sent.then(async (response) => ({ response, ...(await bodyOf(response.clone())) })),
      );
      const isExpired = code === 'AUTH_PROOF_EXPIRED';
      if (code === 'AUTH_DEVICE_UNPROVEN' && !body && proof === undefined) throw noKey();
      if (isExpired && expired < (body ? 1 : PROOF_RETRIES)) {
        if (expired) await sleep(expired * 1000 * (1 + Math.random()));
        expired += 1;
      } else if (proof && body && (isExpired || code === 'AUTH_DEVICE_UNPROVEN')) mayProve = false;
      else {
        const data = await dataOf<Data>(response);
        return (
          data && {
            ...data,
            binding: context?.binding ?? (context?.deviceKey ? ('device' as const) : ('none' as const)),
          }
        );
      }
    }
  };

  /** Adds the access token to a request, and a proof if the token is bound (RFC 9449 §7.1). @param again whether the last proof was refused */
  const authorize = async ({ headers, method, url }: Request, { value, isBound }: Token, again?: boolean) => {
    const use = { method, url, accessToken: value };
    const proof = isBound && (await proofFor({ path: '', create: false, again: !!again, use }));
    if (proof === undefined) throw noKey();
    headers.set('Authorization', `${isBound ? 'DPoP' : 'Bearer'} ${value}`);
    if (proof) headers.set('DPoP', proof);
  };

  return {
    ...{ ...diagnosed, base, isOurs, send, request, call, sendProven, authorize, closeFrame },
    /** Renews the tokens. `null`: the proof of the key was missing or refused; `undefined`: the refresh token was missing or refused. */
    exchange: (bindingCode?: string) =>
      sendProven<RefreshResult>('/auth/refresh-token', undefined, bindingCode).catch((error: AuthError) => {
        // This code is sent only if the cookie has arrived.
        if (error.code === 'AUTH_DEVICE_UNPROVEN') return null;
        if (error.code !== 'AUTH_FAILED') throw error;
        if (diagnosed.keepsNoCookie) throw diagnosed.cookieLost();
        return undefined;
      }),
    /** Sends the browser, with a proof, to the page of the service that asks for one. @param to the encoded path to which that page leads. */
    proveAt: async (to: string) => {
      const proof = await proofFor({ path: '/auth/prove', create: false, again: true });
      browser()?.location.assign(`${base}/auth/prove?to=${to}#proof=${proof || ''}`);
    },
    endSession: () => call('GET', '/auth/clear-cookie'),
  };
};
