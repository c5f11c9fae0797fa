import { performance } from 'node:perf_hooks';
import { proofOf } from './device-key.ts';
import type { openStore } from './store.ts';

/** Milliseconds until a request is given up. The service itself gives up after 30 seconds. */
const TIMEOUT = 40_000;
/** Milliseconds before its end, from which on an access token is renewed. */
const MARGIN = 60_000;

type Envelope<Data> = {
  readonly success: boolean;
  readonly data: Data;
  readonly code: string;
  readonly message: string;
  /** The time at the service. */
  readonly timestamp: string;
};
type User = { readonly id: string; readonly username: string };
type Opened = { readonly accessToken: string; readonly user: User };
/** A second factor: a code of an authenticator app, or a recovery code. */
type Shown = { readonly code: string } | { readonly recoveryCode: string };

/** A refusal of the service, with a code of its catalog. Where there was no answer, calls reject as `fetch` does: try again later. */
export class Refused extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'Refused';
    this.code = code;
  }
}

const claimsOf = (token: string): { iat: number; exp: number; cnf?: object } =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

/** Milliseconds for which an access token is valid. */
const lifetimeOf = (token: string): number => {
  const { iat, exp } = claimsOf(token);
  return (exp - iat) * 1000;
};

type Options = {
  /** `BASE_URL` of the service. */
  readonly baseUrl: string;
  readonly store: ReturnType<typeof openStore>;
};

/** A session that is bound to the key of this device. One program at a time has it. */
export const openSession = ({ baseUrl, store }: Options) => {
  let token: { readonly value: string; readonly until: number } | undefined;
  let renewing: Promise<void> | undefined;
  /** Milliseconds by which the clock of the service is ahead. */
  let ahead = 0;

  const call = async <Data>(method: string, path: string, init: RequestInit = {}): Promise<Envelope<Data>> => {
    const signal = AbortSignal.timeout(TIMEOUT);
    const response = await fetch(baseUrl + path, { method, redirect: 'error', signal, ...init });
    // First of all: a program that is killed after this line has the new cookie.
    store.keep(response.headers.getSetCookie());
    return (await response.json()) as Envelope<Data>;
  };

  /** A request with the cookies, and a proof. If the clock of this machine is wrong, a second proof is right by that of the service. */
  const prove = async (path: string, body: object): Promise<Opened> => {
    for (let attempt = 1; ; attempt += 1) {
      const proof = proofOf(store.key(), baseUrl + path, Date.now() + ahead);
      const headers = { 'Content-Type': 'application/json', Cookie: store.cookie() };
      const sent = performance.now();
      const { success, data, code, message, timestamp } = await call<Opened>('POST', path, {
        headers,
        body: JSON.stringify({ ...body, proof }),
      });
      if (success) {
        token = { value: data.accessToken, until: sent + lifetimeOf(data.accessToken) - MARGIN };
        return data;
      }
      if (code !== 'AUTH_PROOF_EXPIRED' || attempt > 1) throw new Refused(code, message);
      ahead = Date.parse(timestamp) - Date.now();
    }
  };

  const forget = (): void => {
    token = undefined;
    store.forget('refresh_token');
  };

  const renewal = async (): Promise<void> => {
    try {
      await prove('/auth/refresh-token', {});
    } catch (error) {
      // The session has ended. After every other error, and without an answer, the cookie stays: the next try may succeed with it.
      if (error instanceof Refused && error.code === 'AUTH_FAILED') forget();
      throw error;
    }
  };

  /** Renews both tokens, once for all callers at a time. */
  const refresh = (): Promise<void> => {
    renewing ??= renewal().finally(() => {
      renewing = undefined;
    });
    return renewing;
  };

  const ask = async <Data>(path: string): Promise<Envelope<Data>> => {
    if (token === undefined || performance.now() >= token.until) await refresh();
    return call<Data>('GET', path, { headers: authorization('GET', path, token?.value ?? '') });
  };

  /** With a proof if the token is bound to the key (RFC 9449 §7.1). */
  const authorization = (method: string, path: string, token: string): Record<string, string> => {
    if (claimsOf(token).cnf === undefined) return { Authorization: `Bearer ${token}` };
    const proof = proofOf(store.key(), baseUrl + path, Date.now() + ahead, { method, token });
    return { Authorization: `DPoP ${token}`, DPoP: proof };
  };

  return {
    /** @throws Refused, with AUTH_SECOND_FACTOR_REQUIRED: call `showFactor` */
    logIn: async (account: string, password: string): Promise<User> =>
      (await prove('/auth/login', { account, password })).user,
    showFactor: async (shown: Shown): Promise<User> => (await prove('/auth/login/second-factor', shown)).user,
    refresh,
    /** Data of the service. @throws Refused */
    get: async <Data>(path: string): Promise<Data> => {
      let answer = await ask<Data>(path);
      if (answer.code === 'AUTH_TOKEN_INVALID') {
        await refresh();
        answer = await ask<Data>(path);
      }
      if (!answer.success) throw new Refused(answer.code, answer.message);
      return answer.data;
    },
    logOut: async (): Promise<void> => {
      const { success, code, message } = await call('GET', '/auth/clear-cookie', {
        headers: { Cookie: store.cookie() },
      });
      if (!success) throw new Refused(code, message);
      forget();
    },
  };
};
