import { accessTokenOf, type Facts, type Here, partOf, sessionOf, tokenIdOf, tokenIn, tokenOf } from './facts.ts';
import { kernel, MINUTE, SECOND } from './kernel.ts';
import type { Rule, Verdict } from './rules.ts';
import type { Answer, Asked, Instance } from './service.ts';

/** The way to the service, and what its answers have to hold, whoever has asked. */

type Around = Here & { readonly instances: readonly Instance[]; readonly replays: boolean };
export type Internet = ReturnType<typeof openInternet>;

export const REFRESH = '/auth/refresh-token';
const codeIn = ({ body }: Answer): string => /"code":"(\w+)"/.exec(body)?.[1] ?? '';

const note = (facts: Facts, replays: boolean, asked: Asked, answer: Answer, arrivedAt: number): void => {
  const access = accessTokenOf(asked);
  const id = sessionOf(access ?? tokenOf(asked));
  const [, issued] = /"accessToken":"([^"]+)"/.exec(answer.body) ?? [];
  if (issued) facts.tokens.set(sessionOf(issued), issued);
  // Another request may have been given the token of a rotation that is reverted (ADR 0003).
  if (replays && asked.path === REFRESH && answer.status >= 500) facts.unanswered.add(id);
  if (access && asked.method !== 'GET' && answer.status >= 500) facts.failed.set(id, arrivedAt);
  const userOf = (token = '') => partOf(token, 1)?.sub;
  // What another session of the user has done since may have ended this one.
  for (const other of access && answer.status < 300 ? facts.failed.keys() : [])
    if (other !== id && userOf(facts.tokens.get(other)) === userOf(access)) facts.failed.delete(other);
};

/** What came of what works once, and when it arrived. */
const usesOf = (facts: Facts) => {
  const uses = new Map<string, { readonly result: string; readonly at: number }>();
  return (rule: Rule, what: string, result: string, at: number): Verdict => {
    const former = uses.get(what);
    uses.set(what, { result, at });
    return [rule, !former || former.result === result, facts.forgotSince(former?.at)];
  };
};

/** @returns what judges an answer. `problems`: what is not as the OpenAPI document says. */
const judgeAnswers = ({ story, facts, replays }: Omit<Around, 'chance' | 'instances'>) => {
  const use = usesOf(facts);
  const ofToken = (asked: Asked, token: string, arrivedAt: number): (Verdict | false)[] => {
    const { path, body, headers } = asked;
    const id = sessionOf(token);
    const end = facts.ended.get(id)?.at;
    const isOnce = path === REFRESH && !replays && !facts.rowOf(id)?.deviceKey;
    const isGiven = /\/callback\?|^\/auth\/(adopt|login\/app)$/.test(path) || /"[0-9A-Z-]{29}"/.test(body ?? '');
    const [what, result] = isGiven ? [path + body, id] : [headers.dpop, token];
    return [
      ['a session that has ended gives no token', end === undefined || end >= arrivedAt, facts.forgotSince(end)],
      isOnce &&
        use('of any number of concurrent uses of a token one succeeds', tokenIdOf(tokenOf(asked)), token, arrivedAt),
      what !== undefined && use('of what works once one use succeeds', what, result, arrivedAt),
    ];
  };
  const ofAnswer = (asked: Asked, answer: Answer, arrivedAt: number): (Verdict | false)[] => {
    const { method, path } = asked;
    const own = sessionOf(tokenOf(asked));
    const row = facts.rowOf(own);
    const isOver = row === undefined || facts.endedWithAll(row);
    const access = sessionOf(accessTokenOf(asked));
    const end = facts.ended.get(access)?.at;
    const isRead = method === 'GET' && /^\/(users\/me|auth\/gateway)$/.test(path) && answer.status === 200;
    const isRepeated = answer.status < 500 && answer.status !== 401 && facts.failed.delete(access || own);
    return [
      ['no error is unexpected', !/^SYS_(UNEXPECTED|SERIALIZATION)/.test(codeIn(answer))],
      ['no request fails without a fault', answer.status < 500, facts.faultWithin(90 * SECOND)],
      [
        'an access token of a session that has ended is refused',
        !isRead || end === undefined || end >= arrivedAt,
        facts.forgotSince(end),
      ],
      ['a log-out ends the session', path !== '/auth/clear-cookie' || answer.status >= 400 || !own || isOver],
      isRepeated && ['a request that failed can be repeated', true],
      path === REFRESH && answer.status === 200 && ['nobody is logged out but for a documented reason', true],
    ];
  };
  return (asked: Asked, answer: Answer, arrivedAt: number, problems: readonly string[]): void => {
    const token = tokenIn(answer);
    const text = () => `${asked.method} ${asked.path} ${answer.status} ${codeIn(answer)} ${problems}`;
    note(facts, replays, asked, answer, arrivedAt);
    story.expect('each answer is as the OpenAPI document says', problems.length === 0, text);
    story.judge(ofAnswer(asked, answer, arrivedAt), text);
    if (token !== undefined) story.judge(ofToken(asked, token, arrivedAt), text);
  };
};

/** The way to the service: any instance that is up answers, and each answer is judged. */
export const openInternet = ({ chance, story, facts, instances, replays }: Around) => {
  const judge = judgeAnswers({ story, facts, replays });
  let arrived = Promise.withResolvers<void>();
  const internet = {
    ...{ story, facts, requests: 0 },
    /** The last request that reads with an access token, which a thief can repeat without harm to the owner. */
    lastRead: undefined as Asked | undefined,
    send(asked: Asked) {
      const arrivedAt = kernel.time;
      internet.requests += 1;
      const up = instances.filter(({ isUp }) => isUp());
      if (up.length === 0) return { answer: kernel.sleep(5).then(() => null), hangUp: () => undefined };
      const instance = chance.pick(up);
      const { answer, hangUp } = instance.request(asked);
      const isRefresh = asked.path === REFRESH;
      if (isRefresh) arrived.resolve();
      if (asked.method === 'GET' && accessTokenOf(asked)) internet.lastRead = asked;
      const judged = answer.then((value) => {
        if (value === null || !instance.isUp()) return null;
        judge(asked, value, arrivedAt, instance.problemsOf(asked, value));
        return value;
      });
      void story.within(`${asked.method} ${asked.path}`, judged, 45 * SECOND);
      return { answer: judged, hangUp };
    },
    ask: (asked: Asked) => internet.send(asked).answer,
    /** Resolves when a refresh arrives: at any moment, faults hardly ever meet one. */
    atRefresh(): Promise<void> {
      arrived = Promise.withResolvers();
      return Promise.race([arrived.promise, kernel.sleep(20 * MINUTE)]);
    },
  };
  return internet;
};

/** Whether a session was ended by a change of its own that was answered by a failure. */
const endedByFailure = ({ ended, failed }: Facts, id: string): boolean => {
  const [end, at = Number.POSITIVE_INFINITY] = [ended.get(id), failed.get(id)];
  const isOwn = end?.reason === 'replaced' || end?.reason === 'password-changed';
  return isOwn && end.at >= at && end.at < at + 20 * SECOND;
};

/** Why an honest user may be out. */
const excuseOf = (facts: Facts, token: string): string | false => {
  const id = sessionOf(token);
  const [end, row, start] = [facts.ended.get(id), facts.rowOf(id), facts.opened.get(id) ?? 0];
  const reason = end?.reason ?? 'silently';
  if (row && facts.endedWithAll(row)) return 'it ended: operator';
  if (facts.forgotten.some((at) => at >= start && at - 10 * SECOND <= start)) return 'the log-in was forgotten';
  if (facts.touchedByThief.has(id)) return 'touched by a thief';
  if (Number(partOf(token, 1)?.exp) * SECOND <= kernel.time + SECOND || reason === 'expired') return 'expired';
  if (row !== undefined || reason === 'token-replayed')
    return !(row?.deviceKey || end?.isBound) && facts.unanswered.has(id) && 'an answer was lost';
  return reason !== 'silently' && !endedByFailure(facts, id) && `it ended: ${reason}`;
};

type Out = { readonly name: string; readonly token: () => string | undefined };
/** A browser that has a session shows nobody. */
export const judgeLogOut = ({ story, facts }: Omit<Here, 'chance'>, browser: Out, how: string): void => {
  const token = browser.token();
  if (token === undefined) return;
  const rule = endedByFailure(facts, sessionOf(token))
    ? 'a request that failed can be repeated'
    : 'nobody is logged out but for a documented reason';
  story.expect(rule, false, () => `${browser.name}: ${sessionOf(token)}: ${how}`, excuseOf(facts, token));
};
