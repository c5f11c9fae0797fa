import type { Browser, Internet, Tab } from './browser.ts';
import type { Chance } from './chance.ts';
import { type Belief, beliefOf, type Facts, numberIn, sessionOf, tokenIn } from './facts.ts';
import { kernel, MINUTE, SECOND } from './kernel.ts';
import type { Story } from './rules.ts';
import type { Answer, Asked, Instance } from './service.ts';

/** What goes between browsers and instances, and what browsers believe by that. */

const isRefresh = ({ path }: { readonly path: string }) => path === '/auth/refresh-token';

type Here = {
  readonly chance: Chance;
  readonly story: Story;
  readonly facts: Facts;
  readonly instances: readonly Instance[];
  readonly judge: (asked: Asked, answer: Promise<Answer | null>) => void;
};

/** Any instance that is up answers. */
const senderOf = ({ chance, story, instances, judge }: Here) => {
  /** `last`: what a thief can repeat without harm to the owner. */
  const sent = { requests: 0, last: undefined as Asked | undefined };
  const send = (asked: Asked, by: string) => {
    sent.requests += 1;
    const up = instances.filter(({ isUp }) => isUp());
    const instance = up.length > 0 ? chance.pick(up) : undefined;
    if (instance === undefined) return { answer: kernel.sleep(5).then(() => null), hangUp: () => undefined, instance };
    const { answer, hangUp } = instance.request(asked);
    judge(asked, answer);
    if (asked.method === 'GET' ? asked.headers.authorization : asked.headers.dpop && isRefresh(asked))
      sent.last = asked;
    void story.within(`${by}: ${asked.method} ${asked.path}`, answer, 45 * SECOND);
    return { answer: answer.then((value) => (instance.isUp() ? value : null)), hangUp, instance };
  };
  return { sent, send };
};

export const openInternet = (here: Here) => {
  const { story, facts } = here;
  const { sent, send } = senderOf(here);
  let arrived = Promise.withResolvers<void>();
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
      if (isRefresh(visit)) arrived.resolve();
      const { answer, hangUp, instance } = send(visit, visit.browser.name);
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
    answered(visit, answer) {
      const id = sessionOf(visit.sentCookie);
      if (isRefresh(visit) && id && [200, 401].includes(answer.status))
        refreshes.set(id, [...(refreshes.get(id) ?? []), kernel.time]);
      const token = tokenIn(answer);
      if (token !== undefined) beliefs.set(visit.browser, beliefOf(token));
      else if (answer.cookies.some((text) => text.startsWith('refresh_token=;'))) beliefs.delete(visit.browser);
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
    ...{ internet, onNobody, sent },
    ask: (asked: Asked) => send(asked, 'thief').answer,
    /** When a browser got answers to refreshes of a session. */
    refreshesOf: (sessionId: string): readonly number[] => refreshes.get(sessionId) ?? [],
    /** Resolves when a refresh arrives: at any moment, faults hardly ever meet one. */
    atRefresh(): Promise<void> {
      arrived = Promise.withResolvers();
      return Promise.race([arrived.promise, kernel.sleep(20 * MINUTE)]);
    },
  };
};
