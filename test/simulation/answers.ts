import type { SimulatedDatabase } from './database.ts';
import { type Facts, sessionOf, tokenIdOf, tokenIn } from './facts.ts';
import { kernel, SECOND } from './kernel.ts';
import type { Story } from './rules.ts';
import type { Answer, Asked } from './service.ts';

/** What answers have to hold, whoever has asked. */

/** Milliseconds: two windows, and a second for what is rounded. */
const LONGEST_RACE = 21 * SECOND;

/** @returns what judges a refresh by the time since its token was replaced. */
const judgeReplays = ({ watchers }: SimulatedDatabase, story: Story, facts: Facts) => {
  const replacedAt = new Map<unknown, number>();
  watchers.push((changes) => {
    for (const { table, before, after } of changes) {
      if (table !== 'sessions' || before?.currentTokenId === after?.currentTokenId) continue;
      replacedAt.set(before?.currentTokenId, kernel.time);
      replacedAt.delete(after?.currentTokenId);
    }
  });
  return ({ path, headers }: Asked, answer: Promise<Answer | null>): void => {
    const [, token] = /refresh_token=([^;]+)/.exec(headers.cookie ?? '') ?? [];
    const [id, at] = [sessionOf(token), replacedAt.get(tokenIdOf(token))];
    if (path !== '/auth/refresh-token' || at === undefined || kernel.time - at <= LONGEST_RACE) return;
    void answer.then((value) => {
      if (value?.status !== 401 || facts.rowOf(id)?.deviceKey) return;
      const excuse = facts.forgotSince(at) && 'forgotten';
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
      const row = facts.rowOf(sessionOf(token));
      const isOver = row === undefined || facts.endedWithAll(row);
      const isDone = value !== null && value.status < 400;
      story.expect('a log-out ends the session', isOver || !isDone, () => sessionOf(token));
    });
  };

export const judgeAsked = (database: SimulatedDatabase, story: Story, facts: Facts) => {
  const judges = [judgeReplays(database, story, facts), judgeOnce(story), judgeLogOuts(story, facts)];
  return (asked: Asked, answer: Promise<Answer | null>): void => {
    for (const judge of judges) judge(asked, answer);
  };
};
