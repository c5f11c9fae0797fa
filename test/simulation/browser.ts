import { parseSetCookie } from 'cookie';
import type { AuthClient } from '../../client/src/types.ts';
import type { Channel } from '../support/page-parts.ts';
import { send } from './internet.ts';
import { type Chance, kernel, MINUTE, SECOND } from './kernel.ts';
import { type Answer, APPLICATION, isLive, REFRESH, type Request, type Sent, tokenIn, tokensOf } from './requests.ts';
import { facts } from './world.ts';

/** A simulated browser without its tabs: cookies, storage, the sleep of its machine, and its network connection (`line`) to the service. */

export type Browser = ReturnType<typeof openBrowser>;
/** `goOn` runs the callbacks that have waited while the tab was frozen or the machine asleep. */
type TabAction = 'goOn' | 'freeze' | 'hide' | 'show' | 'close';
/** `happens` sends an event to the page. */
export type Tab = { readonly auth: AuthClient; happens(event: string): void } & Record<TabAction, () => void>;

/** `slowest`: milliseconds of one way at most. The others: how often a request is lost, has no answer, or arrives twice, and how often IndexedDB fails. */
const GOOD_LINE = { slowest: 150, lost: 0, unanswered: 0, doubled: 0, keyFaults: 0, onLine: true };

/** @param skew milliseconds by which the clock of its machine is ahead */
export const openBrowser = (chance: Chance, name: string, address: string, skew = 0, hasKeys = false) => {
  const line = { ...GOOD_LINE };
  const travel = travelOver(line, chance);
  const cookies = new Map<string, ReturnType<typeof parseSetCookie>>();
  let cut = Promise.withResolvers<null>();
  let [slept, asleepSince] = [0, undefined as number | undefined];
  const browser = {
    ...{ name, skew, hasKeys, chance, line, storage: {} as Record<string, string>, tabs: new Set<Tab>() },
    ...{ channels: new Set<Channel>(), keys: new Map<string, unknown>() },
    /** The refresh token that it got last, and has not been told to remove. */
    token: (): string | undefined => cookies.get('refresh_token')?.value || undefined,
    /** While the machine sleeps, its tabs run no callbacks, and its monotonic clock stands still. */
    isAsleep: () => asleepSince !== undefined,
    awake: (): number => (asleepSince ?? kernel.time) - slept,
    sleep(): void {
      asleepSince ??= kernel.time;
      cut.resolve(null);
    },
    wake(): void {
      slept += kernel.time - (asleepSince ?? kernel.time);
      asleepSince = undefined;
      cut = Promise.withResolvers();
      for (const tab of browser.tabs) tab.goOn();
      for (const tab of browser.tabs) tab.happens('online');
    },
    repair(): void {
      Object.assign(line, GOOD_LINE);
      browser.wake();
      for (const tab of browser.tabs) tab.show();
    },
    /** Sends a request, and stores the cookies of the answer. Cookies expire by the clock of the machine. Rejects, as `fetch` does, without an answer. */
    async send(method: string, path: string, { headers, body, origin = APPLICATION }: Sent = {}): Promise<Answer> {
      const live = [...cookies.values()].filter(({ expires }) => !(Number(expires) <= kernel.time + skew));
      const cookie = live.map((each) => `${each.name}=${each.value}`).join('; ');
      const own = { 'user-agent': `Mozilla/5.0 (${name})`, 'sec-fetch-site': origin ? 'same-site' : 'same-origin' };
      const all = { ...own, ...(origin && { origin }), ...(cookie && { cookie }), ...headers };
      const answer = await travel({ method, path, headers: all, body, address }, cut.promise);
      if (answer === null) throw new TypeError(`fetch failed ${method} ${path}`);
      for (const each of answer.cookies.map((text) => parseSetCookie(text))) cookies.set(each.name, each);
      return answer;
    },
  };
  return browser;
};

/** Sends requests over a line. The answer is `null` if the request or the answer is lost, or `cut` resolves before. */
const travelOver = (line: typeof GOOD_LINE, chance: Chance) => {
  let lastArrival = 0;
  return async (asked: Request, cut: Promise<null>): Promise<Answer | null> => {
    const { refresh, own: id } = tokensOf(asked);
    const during = <Value>(work: Promise<Value>) => Promise.race([cut, work]);
    const lose = (most: number) => kernel.sleep(chance.between(5, most)).then(() => null);
    if (!line.onLine || chance.happens(line.lost)) return during(lose(line.onLine ? 20 * SECOND : 6));
    if ((await during(kernel.sleep(chance.between(10, line.slowest)))) === null) return null;
    const { answer, hangUp } = send(asked);
    void cut.then(hangUp);
    // The browser does not get the answer to the second copy. If that answer has a newer token, the session counts as unanswered.
    const again = async (first: Answer | null) => {
      const token = tokenIn(await send(asked).answer);
      if (token && token !== tokenIn(first)) facts.unanswered.add(id);
    };
    if (chance.happens(line.doubled))
      void answer.then((first) => kernel.after(chance.spread(1, 4 * SECOND), () => void again(first)));
    const got = await during(answer);
    const isKept = got !== null && !chance.happens(line.unanswered);
    // At once: another tab may repeat the request before this one gives up.
    if (!isKept) facts.unanswered.add(id);
    // Answers arrive in the order in which they are sent, as over one connection of HTTP/2.
    if (isKept) lastArrival = Math.max(lastArrival, kernel.time + chance.between(10, line.slowest));
    const back = await during(isKept ? kernel.sleep(lastArrival - kernel.time) : lose(got ? MINUTE / 2 : 20));
    if (got === null || back === null) facts.unanswered.add(id);
    // Refreshes with an expired token are not recorded: such a token does not verify, so it cannot reveal a thief.
    else if (isLive(refresh) && asked.path === REFRESH && [200, 401].includes(got.status))
      facts.refreshes.set(id, [...(facts.refreshes.get(id) ?? []), kernel.time]);
    return back === null ? null : got;
  };
};
