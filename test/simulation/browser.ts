import type { createAuthClient } from '../../client/src/index.ts';
import type { Chance } from './chance.ts';
import { kernel, MINUTE, SECOND } from './kernel.ts';
import { type Answer, APPLICATION, type Asked, BASE } from './service.ts';

/** A browser without its tabs: cookies, storage, a machine that sleeps, and its line to the service. */

export type Sent = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** `null`: a page of the service itself. */
  readonly origin?: string | null;
};
/** What a browser is asked, and what becomes of it. */
export type Visit = Asked & { readonly browser: Browser; readonly sentCookie: string | undefined };
export type Internet = {
  readonly ask: (visit: Visit) => { readonly answer: Promise<Answer | null>; readonly hangUp: () => void };
  /** The service has got a request, and the browser no answer. */
  readonly lost: (visit: Visit) => void;
  readonly answered: (visit: Visit, answer: Answer) => void;
  readonly changed: (tab: Tab, user: string | null, why: string) => void;
};
export type Machine = {
  readonly name: string;
  readonly address: string;
  readonly userAgent: string;
  /** Milliseconds by which its clock is ahead. */
  readonly skew: number;
  readonly hasKeys: boolean;
};
export type Browser = ReturnType<typeof openBrowser>;
export type Tab = {
  readonly browser: Browser;
  readonly auth: ReturnType<typeof createAuthClient>;
  readonly isClosed: () => boolean;
  /** Runs now, or when the page is not frozen any more. */
  readonly run: (call: () => void) => void;
  readonly happens: (event: string) => void;
} & Readonly<Record<'freeze' | 'hide' | 'show' | 'close', () => void>>;

const GOOD_LINE = { delay: [10, 150] as [number, number], lost: 0, unanswered: 0, isOffline: false };

export const openBrowser = (internet: Internet, chance: Chance, machine: Machine) => {
  const clock = () => kernel.time + machine.skew;
  const jar = cookieJar(clock);
  const sleeping = sleepOf();
  const line = { ...GOOD_LINE };
  const connections = new Set<() => void>();
  let lastArrival = 0;
  const browser = {
    ...{ ...machine, chance, clock, line, jar },
    tabs: new Set<Tab>(),
    channels: new Set<{ readonly name: string; readonly tab: Tab; readonly hear: (data: unknown) => void }>(),
    storage: {} as Record<string, string>,
    keys: new Map<string, unknown>(),
    /** How often its store of keys fails. */
    keyFaults: 0,
    ...{ whenAwake: sleeping.whenAwake, awake: sleeping.awake },
    cookie: () => jar.get('refresh_token'),
    repair(): void {
      Object.assign(line, GOOD_LINE);
      browser.keyFaults = 0;
    },
    sleep(): void {
      sleeping.begin();
      for (const cut of connections) cut();
    },
    wake(): void {
      sleeping.end();
      for (const tab of browser.tabs) tab.happens('online');
    },
    /** One request. Its cookies are kept even if the page has gone. */
    send(method: string, url: string, { headers = {}, body, origin = APPLICATION }: Sent = {}): Promise<Answer> {
      const path = url.slice(BASE.length);
      const cookie = jar.header(path);
      const own = { 'user-agent': machine.userAgent, 'sec-fetch-site': origin ? 'same-site' : 'same-origin' };
      const all = { ...own, ...(origin && { origin }), ...(cookie && { cookie }), ...headers };
      const visit: Visit = {
        method,
        path,
        headers: all,
        body,
        address: machine.address,
        browser,
        sentCookie: browser.cookie(),
      };
      return travel(visit);
    },
  };
  const travel = (visit: Visit): Promise<Answer> =>
    new Promise((resolve, reject) => {
      let [isOver, hangUp] = [false, undefined as (() => void) | undefined];
      const end = (work: () => void): void => {
        if (isOver) return;
        isOver = true;
        connections.delete(cut);
        sleeping.whenAwake(work);
      };
      const fail = (why: string, after = 0) =>
        kernel.after(after, () => end(() => reject(new TypeError(`fetch failed: ${why}`))));
      const lose = (why: string, after: number): void => {
        if (!isOver) internet.lost(visit);
        fail(why, after);
      };
      const cut = (): void => {
        if (hangUp) lose('the connection broke', 0);
        else fail('the connection broke');
        hangUp?.();
      };
      connections.add(cut);
      if (line.isOffline) return void fail('offline', 5);
      if (chance.happens(line.lost)) return void fail('the request was lost', chance.between(50, 20 * SECOND));
      kernel.after(chance.between(...line.delay), () => {
        if (isOver) return;
        const asked = internet.ask(visit);
        hangUp = asked.hangUp;
        void asked.answer.then((answer) => {
          if (answer === null) return lose('the connection was reset', 20);
          if (chance.happens(line.unanswered)) return lose('the answer was lost', chance.between(50, MINUTE / 2));
          // Answers come in their order, as over one connection of HTTP/2.
          lastArrival = Math.max(lastArrival, kernel.time + chance.between(...line.delay));
          kernel.after(lastArrival - kernel.time, () =>
            end(() => {
              jar.keep(answer.cookies);
              internet.answered(visit, answer);
              resolve(answer);
            }),
          );
        });
      });
    });
  return browser;
};

/** A machine that sleeps lets nothing happen until it wakes up, and its monotonic clock stands still. */
const sleepOf = () => {
  let [slept, since] = [0, undefined as number | undefined];
  let deferred: (() => void)[] = [];
  return {
    awake: (): number => (since ?? kernel.time) - slept,
    whenAwake: (call: () => void): void => {
      if (since === undefined) call();
      else deferred.push(call);
    },
    begin(): void {
      since ??= kernel.time;
    },
    end(): void {
      if (since === undefined) return;
      slept += kernel.time - since;
      since = undefined;
      const calls = deferred;
      deferred = [];
      for (const call of calls) call();
    },
  };
};

const cookieJar = (clock: () => number) => {
  const cookies = new Map<string, { readonly value: string; readonly path: string; readonly expires: number }>();
  const live = () => [...cookies].filter(([, { expires }]) => expires > clock());
  return {
    get: (name: string): string | undefined => live().find(([each]) => each === name)?.[1].value,
    header: (path: string): string =>
      live()
        .filter(([, cookie]) => path.startsWith(cookie.path))
        .map(([name, { value }]) => `${name}=${value}`)
        .join('; '),
    keep(lines: readonly string[]): void {
      for (const line of lines) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        const [, expiry] = /; expires=([^;]*)/i.exec(line) ?? [];
        const [, path = '/'] = /; path=([^;]*)/i.exec(line) ?? [];
        // The time of the machine counts, which the service does not know.
        const expires = expiry === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiry);
        if (expires > clock()) cookies.set(name, { value, path, expires });
        else cookies.delete(name);
      }
    },
  };
};
