import type { SimulatedDatabase } from './database.ts';
import { type Facts, sessionOf, tokenIdOf, tokenIn } from './facts.ts';
import { kernel, SECOND } from './kernel.ts';
import type { Story } from './rules.ts';
import type { Answer, Asked } from './service.ts';

/** What answers have to hold, whoever has asked. */

/** Milliseconds. */
const RACE_WINDOW = 10 * SECOND;

/** @returns what judges a refresh by the time since its token was replaced. */
const judgeReplays = ({ watchers }: SimulatedDatabase, story: Story, facts: Facts) => {
  const replacedAt = new Map<unknown, number>();
  const flights = new Map<string, { isAlone: boolean }>();
  watchers.push((changes) => {
    for (const { table, before, after } of changes) {
      if (table !== 'sessions' || before?.currentTokenId === after?.currentTokenId) continue;
      replacedAt.set(before?.currentTokenId, kernel.time);
      replacedAt.delete(after?.currentTokenId);
    }
  });
  return ({ path, headers }: Asked, answer: Promise<Answer | null>): void => {
    const [, token] = /refresh_token=([^;]+)/.exec(headers.cookie ?? '') ?? [];
    const [id, arrivedAt, at] = [sessionOf(token), kernel.time, replacedAt.get(tokenIdOf(token))];
    if (path !== '/auth/refresh-token' || token === undefined) return;
    const other = flights.get(id);
    if (other) other.isAlone = false;
    const flight = { isAlone: other === undefined };
    flights.set(id, flight);
    void answer.then((value) => {
      if (flights.get(id) === flight) flights.delete(id);
      if (at === undefined || facts.rowOf(id)?.deviceKey) return;
      const [excuse, end] = [facts.forgotSince(at) && 'forgotten', facts.ended.get(id)];
      if (flight.isAlone && end?.reason === 'token-replayed' && end.at >= arrivedAt)
        story.expect('what was replaced just now is no theft', end.at - at > RACE_WINDOW, () => id, excuse);
      if (value?.status === 401 && arrivedAt - at > 2 * RACE_WINDOW + SECOND)
        story.expect('a replaced token ends its session', facts.rowOf(id) === undefined, () => id, excuse);
    });
  };
};

/** @returns what judges whether a return from a provider has opened two sessions, and a proof has got two tokens. */
const judgeOnce = (story: Story) => {
  const opened = new Map<string, Set<string>>();
  return ({ path, headers }: Asked, answer: Promise<Answer | null>): void => {
    const isReturn = path.includes('/callback?');
    const what = isReturn ? path : headers.dpop;
    if (what === undefined) return;
    void answer.then((value) => {
      const token = value === null ? undefined : tokenIn(value);
      if (token === undefined) return;
      const all = (opened.get(what) ?? new Set()).add(isReturn ? sessionOf(token) : token);
      opened.set(what, all);
      story.expect('of what works once one use succeeds', all.size === 1, () => path);
    });
  };
};

const judgeLogOuts =
  (story: Story, facts: Facts) =>
  ({ path, headers }: Asked, answer: Promise<Answer | null>): void => {
    const [, token] = /refresh_token=([^;]+)/.exec(headers.cookie ?? '') ?? [];
    if (path !== '/auth/clear-cookie' || token === undefined) return;
    void answer.then((value) => {
      const isOver = value === null || value.status >= 400 || facts.rowOf(sessionOf(token)) === undefined;
      story.expect('a log-out ends the session', isOver, () => sessionOf(token));
    });
  };

export const judgeAsked = (database: SimulatedDatabase, story: Story, facts: Facts) => {
  const judges = [judgeReplays(database, story, facts), judgeOnce(story), judgeLogOuts(story, facts)];
  return (asked: Asked, answer: Promise<Answer | null>): void => {
    for (const judge of judges) judge(asked, answer);
  };
};
