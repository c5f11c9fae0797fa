import type { AuthError } from './auth-error.ts';
import { browser, ignore, sleep } from './host.ts';
import type { SessionAnswer, service } from './service.ts';
import { tabs } from './tabs.ts';
import { type ReturnMark, takeReturnMark } from './there-and-back.ts';
import { type Token, tokenOf, userOf } from './token.ts';
import type { AuthClient, Change, User } from './types.ts';

/** How many refusals of a renewal end the session here. A refusal counts as a quarter if another tab has renewed meanwhile. */
const MAX_REFUSALS = 3;
/** Milliseconds between attempts, to which the duration of the last attempt is added. `LONGEST_PAUSE` limits the sum, since the page may have been frozen. */
const PAUSE = 100;
const LONGEST_PAUSE = 10_000;
/**
 * The least seconds until the next renewal, after one that failed. The service may have renewed, and accepts the old cookie again only within
 * `JWT_REFRESH_REPLAY_WINDOW`.
 */
const FIRST_RETRY = 2;
/** The least seconds until the next renewal, after several that failed. */
const NEXT_RETRY = 30;

type Session = Pick<AuthClient, 'ready' | 'onChange' | 'logout' | 'dispose'> & {
  readonly token: () => Token | null | undefined;
  readonly renew: (stale?: string) => Promise<User | null>;
  /** Runs a request that opens a session, and takes over the token, if the answer has one. */
  readonly enter: (request: () => Promise<SessionAnswer | null>, why?: Change) => Promise<User | null>;
};

/** The token and the user of this page. */
export const session = (http: ReturnType<typeof service>, ignoreHint?: boolean): Session => {
  let host = browser();
  const listeners = new Set<Parameters<AuthClient['onChange']>[0]>();
  const events: (() => unknown)[] = [];
  /** Aborted by `dispose`. It is also the `options` of `addEventListener`: its `signal` removes the listeners. */
  const end = new AbortController();
  /** `undefined`: not known yet. */
  let token: Token | null | undefined;
  /** Raised when a renewal that is still running must not set the token any more. */
  let epoch = 0;
  /** Renewals that failed since the token was last set. */
  let failures = 0;
  let openTasks = 0;
  let queue: Promise<unknown> = Promise.resolve();
  let pendingRenewal: Promise<User | null> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Calls listeners when no task is open, so that they can call every method of the client. */
  const callListeners = (): void => {
    while (!openTasks && events.length) events.shift()?.();
  };
  const endTask = (): void => {
    openTasks -= 1;
    callListeners();
  };
  /** Runs one task at a time: the cookie of a renewal must not arrive after the cookie of a log-in. */
  const exclusive = <Result>(task: () => Promise<Result>): Promise<Result> => {
    openTasks += 1;
    const result = queue.then(task);
    queue = result.then(endTask, endTask);
    return result;
  };

  /** Sets the timer of the next renewal. A timer for more than 24 days, or for the past, would fire at once, again and again. */
  const schedule = (milliseconds: number): void => {
    clearTimeout(timer);
    if (host) timer = setTimeout(renewIfDue, Math.min(Math.max(1e3, milliseconds), 1e9));
  };

  const setToken = (next: Token | null, why: Change): void => {
    const before = token;
    // The user stays the same object as long as nothing has changed, for components that compare it.
    if (next && JSON.stringify(next.user) === JSON.stringify(userOf(before))) next.user = (before as Token).user;
    token = next;
    failures = 0;
    // With a random delay, one of many tabs renews first.
    if (next) schedule(next.untilDue() + (next.margin * Math.random()) / 2);
    if (next === before) return;
    // If a listener throws, that becomes an unhandled rejection, and the other listeners are called.
    for (const listener of listeners)
      events.push(() => new Promise(() => listeners.has(listener) && listener(userOf(next), why)));
    callListeners();
  };

  const otherTabs = tabs(http.base, ({ value, at, binding = 'none', why }) => {
    setToken(value ? tokenOf(value, binding, at) : null, why);
    epoch += 1;
  });

  const setEverywhere = (next: Token | null, why: Change): void => {
    otherTabs.announce({ value: next?.value, at: next?.at, binding: next?.binding, why });
    setToken(next, why);
  };

  /** Takes over the token of an answer. If the answer states no binding, the binding stays the same. */
  const takeOver = ({ accessToken, binding = token?.binding ?? 'none' }: SessionAnswer, why: Change): User => {
    const next = tokenOf(accessToken, binding);
    if (token && token.user.id !== next.user.id) why = 'login';
    setEverywhere(next, why);
    return next.user;
  };

  /**
   * Tries until there is another token than the stale one. A refusal may mean that another tab was faster: the next attempt sends the cookie of that tab.
   * @param back the mark in the address of the page, which anybody can make up
   */
  const tryToRenew = async (stale?: string, { code, state }: ReturnMark = {}): Promise<void> => {
    if (token && token.value !== stale && token.untilDue() > 0) return;
    const startEpoch = epoch;
    const since = otherTabs.generation();
    let answer: Awaited<ReturnType<typeof http.exchange>>;
    for (let refusals = 0; refusals < (state === 'logged-out' ? 1 : MAX_REFUSALS); ) {
      const start = performance.now();
      const generationBefore = otherTabs.generation();
      answer = await http.exchange(code);
      const pause = Math.min(PAUSE + performance.now() - start, LONGEST_PAUSE);
      if (!answer) await sleep(pause * (1 + refusals) * (0.5 + Math.random()));
      if (-otherTabs.hint() > since) return setToken(null, 'logout');
      if (epoch !== startEpoch) return;
      if (answer) return void takeOver(answer, state === 'logged-in' ? 'login' : 'refresh');
      refusals += otherTabs.generation() === generationBefore ? 1 : 1 / 4;
    }
    // Without a hint of a session, there was none that could end.
    if (token === undefined && otherTabs.hint() <= 0) token = null;
    // The visitor comes from a page of the service, which has not told the other tabs.
    else if (state) setEverywhere(null, 'logout');
    else {
      otherTabs.hint(-otherTabs.generation());
      setToken(null, 'ended');
    }
    if (state === 'logged-in' && answer === undefined && http.mayLoseCookie) throw http.cookieLost();
  };

  const renew = (stale?: string, back?: ReturnMark): Promise<User | null> => {
    pendingRenewal ??= exclusive(() => tryToRenew(stale, back))
      .then(() => userOf(token ?? null))
      .catch((error: AuthError) => {
        schedule((error.retryAfter ?? (failures ? NEXT_RETRY : FIRST_RETRY)) * 1000 * (1 + Math.random()));
        failures += 1;
        throw error;
      })
      .finally(() => {
        pendingRenewal = undefined;
      });
    return pendingRenewal;
  };

  /** Renews, in a visible page, if the token is due, after a failure, or if there may be a token or a session that this page does not know. */
  const renewIfDue = (event?: Event & { readonly persisted?: boolean }): void => {
    // A page also gets "visibilitychange" after "pagehide", which has closed the channel. A channel that is opened then would stay open.
    if (host?.document.hidden) return;
    otherTabs.open();
    // The user may come back to this page (`persisted`) from a page of the service, which does not tell the tabs.
    if (
      token
        ? event?.persisted || failures || token.untilDue() <= 0 || otherTabs.missed()
        : token === undefined || otherTabs.hint() > 0
    )
      renew(token?.value).catch(ignore);
  };

  // After these events, the timer may be late, or this tab may have missed news of another tab.
  for (const type of ['visibilitychange', 'online', 'pageshow']) host?.addEventListener(type, renewIfDue, end);
  host?.addEventListener('pagehide', otherTabs.close, end);
  otherTabs.open();

  // The first attempt, unless there seems to be no session.
  const back = takeReturnMark();
  if (!ignoreHint && back.state !== 'logged-in' && otherTabs.hint() <= 0) token = null;
  const ready = token === null ? Promise.resolve(token) : renew(undefined, back);
  // A failure is reported to those who wait for `ready`, and ignored here.
  const settled = ready.catch(ignore);
  // A page of the service, which has no key, has led here to get a proof.
  if (back.state?.startsWith('%')) void settled.then(() => http.proveAt(back.state as string));

  return {
    token: () => token,
    renew,
    enter: (request, why = 'login') =>
      exclusive(async () => {
        const answer = await request();
        return answer ? takeOver(answer, why) : null;
      }),
    ready,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** If the request fails, the user stays logged in. */
    logout: () => {
      epoch += 1;
      return exclusive(async () => {
        await http.endSession();
        setEverywhere(null, 'logout');
      });
    },
    dispose: () => {
      epoch += 1;
      end.abort();
      host = undefined;
      http.closeFrame();
      otherTabs.close();
      clearTimeout(timer);
      listeners.clear();
    },
  };
};
