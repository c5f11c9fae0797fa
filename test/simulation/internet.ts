import type { Browser, Internet, Tab } from './browser.ts';
import type { Chance } from './chance.ts';
import { type Belief, beliefOf, type Facts, numberIn, sessionOf, tokenIn } from './facts.ts';
import { kernel, MINUTE, SECOND } from './kernel.ts';
import type { Story } from './rules.ts';
import type { Asked, Instance } from './service.ts';

/** What goes between browsers and instances, and what browsers believe by that. */

const isRefresh = ({ path }: { readonly path: string }) => path === '/auth/refresh-token';

type Here = {
  readonly chance: Chance;
  readonly story: Story;
  readonly facts: Facts;
  readonly instances: readonly Instance[];
};

/** Any instance that is up answers. */
const sender = ({ chance, story, instances }: Here) => {
  const send = (asked: Asked, by: string) => {
    sent.requests += 1;
    const up = instances.filter(({ isUp }) => isUp());
    const instance = up.length > 0 ? chance.pick(up) : undefined;
    if (instance === undefined) return { answer: kernel.sleep(5).then(() => null), hangUp: () => undefined, instance };
    const { answer, hangUp } = instance.request(asked);
    let isAnswered = false;
    const what = () => `${by}: ${asked.method} ${asked.path}`;
    kernel.after(45 * SECOND, () => story.expect('nothing waits for ever', isAnswered || !instance.isUp(), what));
    const seen = answer.then((value) => {
      isAnswered = true;
      return instance.isUp() ? value : null;
    });
    return { answer: seen, hangUp, instance };
  };
  const sent = { requests: 0, send };
  return sent;
};

export const openInternet = (here: Here) => {
  const { story, facts } = here;
  const sent = sender(here);
  const waiters: (() => void)[] = [];
  const beliefs = new Map<Browser, Belief>();
  const sessionsOf = new Map<Tab, string | undefined>();
  const refreshes = new Map<string, number[]>();
  const onNobody = (browser: Browser, how: string): void => {
    const belief = beliefs.get(browser);
    beliefs.delete(browser);
    if (belief) facts.judgeLogOut(browser, belief, how);
  };
  const internet: Internet = {
    ask(visit) {
      const arrivedAt = kernel.time;
      if (isRefresh(visit)) for (const each of waiters.splice(0)) each();
      const { answer, hangUp, instance } = sent.send(visit, visit.browser.name);
      const judged = answer.then((value) => {
        if (value === null) return value;
        const got = numberIn(tokenIn(value)) ?? value.status;
        if (isRefresh(visit)) story.remark(`${visit.browser.name}: token ${numberIn(visit.sentCookie)} -> ${got}`);
        facts.judgeAnswer(visit, value, arrivedAt);
        const problems = instance?.problemsOf(visit, value) ?? [];
        const text = () => `${visit.method} ${visit.path} ${value.status}: ${problems}`;
        story.expect('each answer is as the OpenAPI document says', problems.length === 0, text);
        return value;
      });
      return { answer: judged, hangUp };
    },
    lost(visit) {
      story.tell(`${visit.browser.name}: no answer of ${visit.path}`);
      facts.unanswered.add(sessionOf(visit.sentCookie));
    },
    answered({ browser, path, sentCookie }, answer) {
      const id = sessionOf(sentCookie);
      if (isRefresh({ path }) && sentCookie && [200, 401].includes(answer.status))
        refreshes.set(id, [...(refreshes.get(id) ?? []), kernel.time]);
      const token = tokenIn(answer);
      if (token !== undefined) beliefs.set(browser, beliefOf(token));
      else if (answer.cookies.some((text) => text.startsWith('refresh_token=;'))) beliefs.delete(browser);
    },
    changed(tab, user, why) {
      story.tell(`${tab.browser.name}: a tab has ${user} (${why})`);
      // Another tab may have opened another session since.
      const isSame = sessionsOf.get(tab) === beliefs.get(tab.browser)?.id;
      if (why === 'ended' && isSame) onNobody(tab.browser, 'a tab says that the session has ended');
      if (user !== null) sessionsOf.set(tab, beliefs.get(tab.browser)?.id);
    },
  };
  return {
    ...{ internet, onNobody },
    requests: () => sent.requests,
    ask: (asked: Asked) => sent.send(asked, 'thief').answer,
    /** When a browser got answers to refreshes of a session. */
    refreshesOf: (sessionId: string): readonly number[] => refreshes.get(sessionId) ?? [],
    /** Resolves when a refresh arrives: at any moment, faults hardly ever meet one. */
    atRefresh: () => Promise.race([new Promise<void>((resolve) => waiters.push(resolve)), kernel.sleep(20 * MINUTE)]),
  };
};
