import type { AuthError } from './auth-error.ts';
import { browser, ignore, sleep } from './host.ts';
import type { service } from './service.ts';
import { tabs } from './tabs.ts';
import { isDue, type Token, tokenOf, userOf } from './token.ts';
import type { Change, Refreshed, User } from './types.ts';

export type Listener = (user: User | null, why: Change) => void;

/** Refusals before the user is out. One of which another tab's renewal is the reason counts as a quarter. */
const MISSES = 3;
/** Milliseconds between attempts, at least. */
const PAUSE = 100;
/** Seconds until the next renewal, after one that got no answer. */
const LATER = 30;

/** The token and the user of this page. */
export const session = (http: ReturnType<typeof service>) => {
  const host = browser();
  const listeners = new Set<Listener>();
  const events: (() => void)[] = [];
  /** `undefined`: not known yet. */
  let token: Token | null | undefined;
  /** Raised when what is under way must not set the token any more. */
  let epoch = 0;
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

  const schedule = (milliseconds: number): void => {
    clearTimeout(timer);
    if (host) timer = setTimeout(wake, milliseconds);
  };

  const set = (next: Token | null, why: Change): void => {
    const before = token;
    token = next;
    // Later by chance, so that one of many tabs comes first.
    if (next) schedule(next.left() - next.margin * (1 - Math.random() / 2));
    if (next === before) return;
    // What a listener throws becomes an unhandled rejection, and the other listeners run.
    for (const listener of listeners)
      events.push(() => void new Promise(() => listeners.has(listener) && listener(userOf(next), why)));
    deliver();
  };

  const others = tabs(http, ({ value, at, why }) => {
    epoch += 1;
    set(value ? tokenOf(value, at) : null, why);
  });

  const adopt = ({ accessToken }: Refreshed, why: Change): User => {
    const next = tokenOf(accessToken);
    others.tell({ value: accessToken, at: next.at, why });
    set(next, why);
    return next.user;
  };

  /** Until there is another token than the stale one. A refusal may mean that another tab was faster; its cookie works the next time. */
  const renewal = async (stale?: string): Promise<void> => {
    if (token && token.value !== stale && !isDue(token)) return;
    const [begun, since] = [epoch, others.generation()];
    for (let misses = 0; misses < MISSES; ) {
      const [before, start] = [others.generation(), performance.now()];
      const answer = await http.refresh();
      if (!answer) await sleep(Math.max(PAUSE, performance.now() - start) * (1 + misses) * (0.5 + Math.random()));
      if (others.isOut(since)) return set(null, 'logout');
      if (epoch !== begun) return;
      if (answer) return void adopt(answer, 'refresh');
      misses += others.generation() === before ? 1 : 1 / 4;
    }
    others.forget();
    set(null, 'ended');
  };

  const renew = (stale?: string): Promise<User | null> => {
    renewing ??= exclusive(() => renewal(stale))
      .then(() => userOf(token ?? null))
      .catch((error: AuthError) => {
        schedule((error.retryAfter ?? LATER) * 1000 * (1 + Math.random()));
        throw error;
      })
      .finally(() => {
        renewing = undefined;
      });
    return renewing;
  };

  /** Renews when it is time, and when another tab has logged out, which may have been missed. Only in a page that is seen. */
  const wake = (): void => {
    others.open();
    const isHinted = others.hinted();
    if (host?.document.hidden === false && (token ? isDue(token) || !isHinted : isHinted))
      renew(isHinted ? undefined : token?.value).catch(ignore);
  };

  /** After these events a timer may be late, or another tab may have logged out. */
  const listen = (method: 'addEventListener' | 'removeEventListener'): void => {
    for (const type of ['visibilitychange', 'online', 'pageshow']) host?.[method](type, wake);
    host?.[method]('pagehide', others.close);
  };
  listen('addEventListener');
  others.open();

  return {
    token: () => token,
    listeners,
    renew,
    /** The first attempt, unless there is certainly no session. */
    restore: async (): Promise<User | null> => {
      if (others.hinted()) return renew();
      token = null;
      return token;
    },
    /** Runs a request that logs somebody in, and takes its token. */
    enter: (request: () => Promise<Refreshed>): Promise<User> => exclusive(async () => adopt(await request(), 'login')),
    /** Runs the request that logs out. If it fails, nothing has changed. */
    leave: (request: () => Promise<unknown>): Promise<void> => {
      epoch += 1;
      return exclusive(async () => {
        await request();
        others.tell({ why: 'logout' });
        set(null, 'logout');
      });
    },
    dispose: (): void => {
      epoch += 1;
      listen('removeEventListener');
      others.close();
      clearTimeout(timer);
      listeners.clear();
    },
  };
};
