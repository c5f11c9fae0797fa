import { AuthError } from './auth-error.ts';
import { browser, ignore, sleep } from './host.ts';
import type { AuthClientOptions, AuthErrorCode, FieldProblem, Refreshed } from './types.ts';

/** Milliseconds; the service itself gives up after 30 seconds. */
const TIMEOUT = 40_000;

type Envelope = {
  readonly success: boolean;
  readonly data: unknown;
  readonly code: AuthErrorCode;
  readonly message: string;
  readonly details: readonly FieldProblem[] | null;
  readonly context: { readonly requestId: string };
};

/** The requests to the service. Every failure is an AuthError. */
export const service = (options: AuthClientOptions) => {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const { origin, hostname } = new URL(baseUrl);
  const { location, navigator } = browser() ?? {};
  const setCookies: string[] = [];
  let { cookie } = options;

  const get = options.fetch ?? fetch;
  /** Whether the service gets a request, and not another program at its origin. */
  const isOurs = ({ url }: Request): boolean => url.startsWith(`${baseUrl}/`);

  /** An error that the developer has to see, so the console gets it, too. */
  const tell = (code: AuthErrorCode, message: string, cause?: unknown): AuthError => {
    // biome-ignore lint/suspicious/noConsole: a page that swallows the error would hide a wrong setup.
    console.error(message);
    return new AuthError(code, message, cause);
  };

  /** A browser hides why a request has failed. What it may know is whether it is offline, and whether the service is there at all. */
  const failure = async (request: Request, cause: unknown): Promise<AuthError> => {
    const offline = navigator?.onLine === false;
    const probe = { mode: 'no-cors', cache: 'no-store' } as const;
    if (!offline && location && isOurs(request) && (await get(`${baseUrl}/client.js`, probe).catch(ignore)))
      return tell(
        'CLIENT_ORIGIN_REFUSED',
        `${origin} refuses ${location.origin}: list it in ALLOWED_ORIGINS_DEV or _PROD.`,
        cause,
      );
    const code = offline ? 'CLIENT_NETWORK_OFFLINE' : 'CLIENT_NETWORK_FAILED';
    return new AuthError(code, `No response: ${request.url}`, cause, true);
  };

  /** @returns the response, whatever its status. */
  const send = async (request: Request): Promise<Response> => {
    try {
      return await get(request);
    } catch (cause) {
      throw request.signal.aborted ? cause : await failure(request, cause);
    }
  };

  /** @returns `data` of the envelope. */
  const read = async <Data>(response: Response): Promise<Data> => {
    const { status, headers } = response;
    const body = (await response.json().catch(ignore)) as Envelope | undefined;
    if (body?.success) return body.data as Data;
    const code = body?.code ?? 'CLIENT_RESPONSE_INVALID';
    throw new AuthError(
      code,
      body?.message ?? `Unexpected response: ${status}`,
      undefined,
      code === 'DB_QUERY_FAILED' || status === 429 || status > 501,
      Number(headers.get('Retry-After')) || null,
      body?.details ?? [],
      body?.context?.requestId,
    );
  };

  const request = (method: string, path: string, body?: object): Request =>
    new Request(baseUrl + path, {
      method,
      headers: { ...(body && { 'Content-Type': 'application/json' }), ...(cookie && { Cookie: cookie }) },
      ...(body && { body: JSON.stringify(body) }),
      credentials: 'include',
      redirect: 'error',
      // The browser finishes the request, and stores its cookie, even if the page is left.
      keepalive: true,
    });

  /** Sends and receives the refresh cookie. A request that takes too long is not aborted: the cookie of its response would be lost. */
  const call = async <Data>(method: string, path: string, body?: object): Promise<Data> => {
    const answer = send(request(method, path, body)).then((response) => {
      for (const line of cookie ? response.headers.getSetCookie() : []) {
        setCookies.push(line);
        cookie = line.split(';')[0];
      }
      return read<Data>(response);
    });
    const timeout = sleep(TIMEOUT).then(() => {
      throw new AuthError('CLIENT_NETWORK_TIMEOUT', `No response: ${path}`, undefined, true);
    });
    return Promise.race([answer, timeout]);
  };

  return {
    ...{ baseUrl, origin, setCookies, isOurs, tell, send, read, request, call },
    refresh: () => call<Refreshed>('POST', '/auth/refresh-token'),
    /** Whether the refresh cookie may be one of another site, which browsers block. */
    isAway: location && location.hostname !== hostname,
    hasCookie: !!(location || cookie),
  };
};
