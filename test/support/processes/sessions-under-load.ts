import { aPerson, cookiePair, refreshCookieOf } from '../http/service.ts';
import { assertDocumented } from '../openapi/documented-http.ts';

/** The parts of a response that tests of faults check. */
export type Answer = {
  readonly status: number;
  readonly code: string | undefined;
  readonly cookie: string | undefined;
  readonly retryAfter: string | null;
};

/** Milliseconds after which a request counts as hanging and fails its test. It is more than the service's own time limits. */
const HANGING = 60_000;

/** Sends a request to a service in another process. @throws Error if the answer does not match docs/openapi.json */
export const ask = async (url: string, init: RequestInit = {}): Promise<Answer & { readonly body: unknown }> => {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(HANGING) });
  const text = await response.text();
  const { status } = response;
  assertDocumented(init.method ?? 'GET', url, { status, headers: Object.fromEntries(response.headers), body: text });
  // Every response of the service has this form.
  const body = JSON.parse(text) as { readonly code?: string };
  const setCookie = refreshCookieOf({ headers: { 'set-cookie': response.headers.getSetCookie() } });
  return {
    status,
    code: body.code,
    cookie: setCookie && cookiePair(setCookie),
    retryAfter: response.headers.get('Retry-After'),
    body,
  };
};

export const postJson = (url: string, body: object) =>
  ask(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

const REFRESH = '/auth/refresh-token';
const refreshAt = async (url: string, cookie: string, proofFor?: ProofFor): Promise<Answer> =>
  ask(`${url}${REFRESH}`, {
    method: 'POST',
    headers: { Cookie: cookie, 'Content-Type': 'application/json' },
    body: JSON.stringify({ proof: await proofFor?.(REFRESH) }),
  });

/** Makes a proof of a device's key for a path. */
type ProofFor = (path: string) => Promise<string>;

/** A client with a session, which stores its refresh cookies. */
export type Holder = {
  readonly userId: string;
  readonly refresh: (url: string) => Promise<Answer>;
  /** All refresh cookies so far, the latest last. */
  readonly cookies: () => readonly string[];
  /** The number of successful refreshes. */
  readonly refreshes: () => number;
  /** The responses other than 200, in order. */
  readonly failures: readonly Answer[];
};

/** Registers a user. @param proofFor makes proofs of the key to which the session is to be bound */
export const signUpAt = async (url: string, person = aPerson(), proofFor?: ProofFor): Promise<Holder> => {
  const proof = await proofFor?.('/auth/register');
  const { cookie: first, status, body } = await postJson(`${url}/auth/register`, { ...person, proof });
  if (first === undefined) throw new Error(`registering answered ${status}`);
  const { data } = body as { readonly data: { readonly user: { readonly id: string } } };
  const cookies = [first];
  let cookie = first;
  let refreshes = 0;
  const failures: Answer[] = [];
  return {
    userId: data.user.id,
    failures,
    cookies: () => cookies,
    refreshes: () => refreshes,
    refresh: async (at) => {
      const answer = await refreshAt(at, cookie, proofFor);
      if (answer.status === 200 && answer.cookie !== undefined) {
        cookie = answer.cookie;
        cookies.push(cookie);
        refreshes += 1;
      } else failures.push(answer);
      return answer;
    },
  };
};

/** Refreshes every session again and again. @returns a function that stops this and waits for the last responses */
export const refreshAllAt = (url: string, holders: readonly Holder[]): (() => Promise<void>) => {
  let going = true;
  const loops = holders.map(async ({ refresh }) => {
    while (going) await refresh(url);
  });
  return async () => {
    going = false;
    await Promise.all(loops);
  };
};
