import type { AuthError } from './auth-error.ts';
import { browser, ignore, sleep } from './host.ts';
import type { Entered, service } from './service.ts';
import { tabs } from './tabs.ts';
import { type Back, cameBack } from './there-and-back.ts';
import { type Token, tokenOf, userOf } from './token.ts';
import type { AuthClient, Change, User } from './types.ts';

/** Refusals after which the user is out. A refusal that another tab's renewal caused counts as a quarter. */
const MISSES = 3;
/** Milliseconds between attempts, at least. On a slow line as long as an attempt takes, but a page may have been frozen meanwhile. */
const PAUSE = 100;
const LONGEST_PAUSE = 10_000;
/**
 * Seconds until the next renewal, after one that got no answer. The service may have renewed, and takes the old cookie again only within
 * `JWT_REFRESH_REPLAY_WINDOW`.
 */
const SOON = 2;
/** The same, after more of them. */
const LATER = 30;

type Session = Pick<AuthClient, 'ready' | 'onChange' | 'logout' | 'dispose'> & {
  readonly token: () => Token | null | undefined;
  readonly renew: (stale?: string) => Promise<User | null>;
  /** Runs a request that opens a session, and takes its token, if it gets one. */
  readonly enter: (request: () => Promise<Entered | null>, why?: Change) => Promise<User | null>;
};

/** The token and the user of this page. */
export const session = (http: ReturnType<typeof service>, ignoreHint?: boolean): Session => {
  let host = browser();
  const listeners = new Set<Parameters<AuthClient['onChange']>[0]>();
  const events: (() => unknown)[] = [];
  /** Its signal is an option of the listeners of the page. */
  const end = new AbortController();
  /** `undefined`: not known yet. */
  let token: Token | null | undefined;
  /** Raised when what is under way must not set the token any more. */
  let epoch = 0;
  /** Renewals without an answer since the token has changed. */
  let failures = 0;
  let open = 0;
  let queue: Promise<unknown> = Promise.resolve();
  let renewing: Promise<User | null> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Listeners run when no request is open, so they can call everything. */
  const deliver = (): void => {
    while (!open && events.length) events.shift()?.();
  };
  const done = (): void => {
    open -= 1;
    deliver();
  };
  /** One task at a time: the cookie of a renewal must not arrive after that of a log-in. */
  const exclusive = <Result>(task: () => Promise<Result>): Promise<Result> => {
    open += 1;
    const result = queue.then(task);
    queue = result.then(done, done);
    return result;
  };

  /** A timer that is set for more than 24 days, or for the past, would fire at once, and again and again. */
  const schedule = (milliseconds: number): void => {
    clearTimeout(timer);
    if (host) timer = setTimeout(wake, Math.min(Math.max(1e3, milliseconds), 1e9));
  };

  const set = (next: Token | null, why: Change): void => {
    const before = token;
    // One object as long as nothing has changed, for components that compare it.
    if (next && JSON.stringify(next.user) === JSON.stringify(userOf(before))) next.user = (before as Token).user;
    token = next;
    failures = 0;
    // Later by chance, so that one of many tabs comes first.
    if (next) schedule(next.untilDue() + (next.margin * Math.random()) / 2);
    if (next === before) return;
    // What a listener throws becomes an unhandled rejection, and the other listeners run.
    for (const listener of listeners)
      events.push(() => new Promise(() => listeners.has(listener) && listener(userOf(next), why)));
    deliver();
  };

  const others = tabs(http.base, ({ value, at, binding = 'none', why }) => {
    set(value ? tokenOf(value, binding, at) : null, why);
    epoch += 1;
  });

  /** Sets it here and in the other tabs. */
  const change = (next: Token | null, why: Change): void => {
    others.announce({ value: next?.value, at: next?.at, binding: next?.binding, why });
    set(next, why);
  };

  /** A session that takes the place of another one of this client keeps its key. */
  const adopt = ({ accessToken, binding = token?.binding ?? 'none' }: Entered, why: Change): User => {
    const next = tokenOf(accessToken, binding);
    if (token && token.user.id !== next.user.id) why = 'login';
    change(next, why);
    return next.user;
  };

  /**
   * Until there is another token than the stale one. A refusal may mean that another tab was faster; its cookie works the next time.
   * @param back what the address of the page says: it only says what to look for.
   */
  const renewal = async (stale?: string, { code, state }: Back = {}): Promise<void> => {
    if (token && token.value !== stale && token.untilDue() > 0) return;
    const begun = epoch;
    const since = others.generation();
    let answer: Awaited<ReturnType<typeof http.exchange>>;
    for (let misses = 0; misses < (state === 'logged-out' ? 1 : MISSES); ) {
      const start = performance.now();
      const before = others.generation();
      answer = await http.exchange(code);
      const pause = Math.min(PAUSE + performance.now() - start, LONGEST_PAUSE);
      if (!answer) await sleep(pause * (1 + misses) * (0.5 + Math.random()));
      if (-others.hint() > since) return set(null, 'logout');
      if (epoch !== begun) return;
      if (answer) return void adopt(answer, state === 'logged-in' ? 'login' : 'refresh');
      misses += others.generation() === before ? 1 : 1 / 4;
    }
    // Nobody has lost a session that no page knew of.
    if (token === undefined && others.hint() <= 0) token = null;
    // The other tabs have heard nothing of it.
    else if (state) change(null, 'logout');
    else {
      others.hint(-others.generation());
      set(null, 'ended');
    }
    if (state === 'logged-in' && answer === undefined && http.mayLoseCookie) throw http.cookieLost();
  };

  const renew = (stale?: string, back?: Back): Promise<User | null> => {
    renewing ??= exclusive(() => renewal(stale, back))
      .then(() => userOf(token ?? null))
      .catch((error: AuthError) => {
        schedule((error.retryAfter ?? (failures ? LATER : SOON)) * 1000 * (1 + Math.random()));
        failures += 1;
        throw error;
      })
      .finally(() => {
        renewing = undefined;
      });
    return renewing;
  };

  /** Renews when it is time, after a failure, or when this tab has missed an announcement of another one. Only in a visible page. */
  const wake = (event?: Event & { readonly persisted?: boolean }): void => {
    // After "pagehide" a page gets "visibilitychange", too. A channel that is opened then would stay open.
    if (host?.document.hidden) return;
    others.open();
    // A page of the back/forward cache may come after one of the service, which tells the tabs nothing.
    if (
      token
        ? event?.persisted || failures || token.untilDue() <= 0 || others.missed()
        : token === undefined || others.hint() > 0
    )
      renew(token?.value).catch(ignore);
  };

  // After these events a timer may be late, or news of another tab may have been missed.
  for (const type of ['visibilitychange', 'online', 'pageshow']) host?.addEventListener(type, wake, end);
  host?.addEventListener('pagehide', others.close, end);
  others.open();

  // The first attempt, unless there seems to be no session.
  const back = cameBack();
  if (!ignoreHint && back.state !== 'logged-in' && others.hint() <= 0) token = null;
  const ready = token === null ? Promise.resolve(token) : renew(undefined, back);
  // Its failure is for those who wait for it.
  const settled = ready.catch(ignore);
  // The page of the service has no key, and this one may have.
  if (back.state?.startsWith('%')) void settled.then(() => http.proveAt(back.state as string));

  return {
    token: () => token,
    renew,
    enter: (request, why = 'login') =>
      exclusive(async () => {
        const answer = await request();
        return answer ? adopt(answer, why) : null;
      }),
    ready,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** If it fails, nothing has changed. */
    logout: () => {
      epoch += 1;
      return exclusive(async () => {
        await http.endSession();
        change(null, 'logout');
      });
    },
    dispose: () => {
      epoch += 1;
      end.abort();
      host = undefined;
      http.closeFrame();
      others.close();
      clearTimeout(timer);
      listeners.clear();
    },
  };
};
