import type { AuthError } from './auth-error.ts';
import { browser, ignore, sleep } from './host.ts';
import type { SessionAnswer, service } from './service.ts';
import { tabs } from './tabs.ts';
import { type ReturnMark, takeReturnMark } from './there-and-back.ts';
import { type Token, tokenOf, userOf } from './token.ts';
import type { AuthClient, Change, User } from './types.ts';

/** How many refusals of a renewal log the user out. A refusal counts as a quarter if another tab has renewed meanwhile. */
const MAX_REFUSALS = 3;
/** The least milliseconds between attempts, to which the duration of an attempt is added. `LONGEST_PAUSE` limits the sum: the page may have been frozen. */
const PAUSE = 100;
const LONGEST_PAUSE = 10_000;
/**
 * Seconds until the next renewal, after one that got no answer. The service may have renewed, and accepts the old cookie again only within
 * `JWT_REFRESH_REPLAY_WINDOW`.
 */
const FIRST_RETRY = 2;
/** Seconds until the next renewal, after several that got no answer. */
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
  /** Aborted by `dispose`. Listeners of the page get it as their options, so its `signal` removes them. */
  const end = new AbortController();
  /** `undefined`: not known yet. */
  let token: Token | null | undefined;
  /** Raised when a renewal under way must not set the token any more. */
  let epoch = 0;
  /** Renewals without an answer since the token has changed. */
  let failures = 0;
  let openTasks = 0;
  let queue: Promise<unknown> = Promise.resolve();
  let renewing: Promise<User | null> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Calls listeners when no task is open, so that they can call every method of the client. */
  const deliver = (): void => {
    while (!openTasks && events.length) events.shift()?.();
  };
  const endTask = (): void => {
    openTasks -= 1;
    deliver();
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
    if (host) timer = setTimeout(wake, Math.min(Math.max(1e3, milliseconds), 1e9));
  };

  const set = (next: Token | null, why: Change): void => {
    const before = token;
    // The user stays the same object as long as nothing has changed, for components that compare it.
    if (next && JSON.stringify(next.user) === JSON.stringify(userOf(before))) next.user = (before as Token).user;
    token = next;
    failures = 0;
    // The random delay lets one of many tabs renew first.
    if (next) schedule(next.untilDue() + (next.margin * Math.random()) / 2);
    if (next === before) return;
    // An error of a listener becomes an unhandled rejection, and the other listeners run.
    for (const listener of listeners)
      events.push(() => new Promise(() => listeners.has(listener) && listener(userOf(next), why)));
    deliver();
  };

  const others = tabs(http.base, ({ value, at, binding = 'none', why }) => {
    set(value ? tokenOf(value, binding, at) : null, why);
    epoch += 1;
  });

  /** Sets the token here and in the other tabs. */
  const change = (next: Token | null, why: Change): void => {
    others.announce({ value: next?.value, at: next?.at, binding: next?.binding, why });
    set(next, why);
  };

  /** Takes over the token of an answer. A session that replaces the one of this client keeps its binding if the answer states none. */
  const takeOver = ({ accessToken, binding = token?.binding ?? 'none' }: SessionAnswer, why: Change): User => {
    const next = tokenOf(accessToken, binding);
    if (token && token.user.id !== next.user.id) why = 'login';
    change(next, why);
    return next.user;
  };

  /**
   * Tries until there is another token than the stale one. A refusal may mean that another tab was faster: the next attempt sends the cookie of that tab.
   * @param back the mark in the address of the page. Anybody can make it up, so it only decides what to look for.
   */
  const renewal = async (stale?: string, { code, state }: ReturnMark = {}): Promise<void> => {
    if (token && token.value !== stale && token.untilDue() > 0) return;
    const startEpoch = epoch;
    const since = others.generation();
    let answer: Awaited<ReturnType<typeof http.exchange>>;
    for (let refusals = 0; refusals < (state === 'logged-out' ? 1 : MAX_REFUSALS); ) {
      const start = performance.now();
      const before = others.generation();
      answer = await http.exchange(code);
      const pause = Math.min(PAUSE + performance.now() - start, LONGEST_PAUSE);
      if (!answer) await sleep(pause * (1 + refusals) * (0.5 + Math.random()));
      if (-others.hint() > since) return set(null, 'logout');
      if (epoch !== startEpoch) return;
      if (answer) return void takeOver(answer, state === 'logged-in' ? 'login' : 'refresh');
      refusals += others.generation() === before ? 1 : 1 / 4;
    }
    // If no page knew of a session, none has ended.
    if (token === undefined && others.hint() <= 0) token = null;
    // The visitor comes from a page of the service, which has told the other tabs nothing.
    else if (state) change(null, 'logout');
    else {
      others.hint(-others.generation());
      set(null, 'ended');
    }
    if (state === 'logged-in' && answer === undefined && http.mayLoseCookie) throw http.cookieLost();
  };

  const renew = (stale?: string, back?: ReturnMark): Promise<User | null> => {
    renewing ??= exclusive(() => renewal(stale, back))
      .then(() => userOf(token ?? null))
      .catch((error: AuthError) => {
        schedule((error.retryAfter ?? (failures ? NEXT_RETRY : FIRST_RETRY)) * 1000 * (1 + Math.random()));
        failures += 1;
        throw error;
      })
      .finally(() => {
        renewing = undefined;
      });
    return renewing;
  };

  /** Renews, in a visible page, if the token is due, after a failure, or if this tab has missed an announcement of another tab. */
  const wake = (event?: Event & { readonly persisted?: boolean }): void => {
    // After "pagehide", a page also gets "visibilitychange". A channel that is opened then would stay open.
    if (host?.document.hidden) return;
    others.open();
    // A page from the back/forward cache may follow a page of the service, which tells the tabs nothing.
    if (
      token
        ? event?.persisted || failures || token.untilDue() <= 0 || others.missed()
        : token === undefined || others.hint() > 0
    )
      renew(token?.value).catch(ignore);
  };

  // After these events, the timer may be late, or this tab may have missed news of another tab.
  for (const type of ['visibilitychange', 'online', 'pageshow']) host?.addEventListener(type, wake, end);
  host?.addEventListener('pagehide', others.close, end);
  others.open();

  // The first attempt, unless there seems to be no session.
  const back = takeReturnMark();
  if (!ignoreHint && back.state !== 'logged-in' && others.hint() <= 0) token = null;
  const ready = token === null ? Promise.resolve(token) : renew(undefined, back);
  // A failure is reported to those who wait for `ready`, and ignored here.
  const settled = ready.catch(ignore);
  // A page of the service has led here for a proof: it has no key, and this page may have one.
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
