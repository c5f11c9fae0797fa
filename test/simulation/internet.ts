import { decodeTime } from 'ulid';
import { database } from './database.ts';
import { facts, faultWithin, forgotSince, hasPassword, isEndedWithAll, sessionRow, world } from './facts.ts';
import { expect, type Judge, judgeOf, kernel, MINUTE, perWorld, SECOND, within } from './kernel.ts';
import { type Answer, type Asked, accessTokenOf, claimsOf, json, sessionOf, tokenIn, tokenOf } from './outside.ts';
import type { Rule } from './rules.ts';
import { instances } from './service.ts';

/** The way to the service, and what its answers have to hold, whoever has asked. */

export const REFRESH = '/auth/refresh-token';
const codeIn = ({ body }: Answer): string => /"code":"(\w+)"/.exec(body)?.[1] ?? '';

const note = (asked: Asked, answer: Answer, arrivedAt: number): void => {
  const access = accessTokenOf(asked);
  const id = sessionOf(access ?? tokenOf(asked));
  const [, issued] = /"accessToken":"([^"]+)"/.exec(answer.body) ?? [];
  if (issued) facts.tokens.set(sessionOf(issued), issued);
  // Another request may have been given the token of a rotation that is reverted (ADR 0003).
  if (world.replays && asked.path === REFRESH && answer.status >= 500) facts.unanswered.add(id);
  if (access && asked.method !== 'GET' && answer.status >= 500) facts.failed.set(id, arrivedAt);
  // What another session of the user has done since may have ended this one.
  for (const other of access && answer.status < 300 ? facts.failed.keys() : [])
    if (other !== id && claimsOf(facts.tokens.get(other))?.sub === claimsOf(access)?.sub) facts.failed.delete(other);
};

export const internet = perWorld((chance) => ({
  chance,
  requests: 0,
  /** The last request that reads with an access token, which a thief can repeat without harm to the owner. */
  lastRead: undefined as Asked | undefined,
  /** What came of what works once, and when it arrived. */
  uses: new Map<string | undefined, { readonly result: string; readonly at: number }>(),
  arrived: Promise.withResolvers<void>(),
}));

/** Before a request arrived. */
const hadEnded = (id: string, arrivedAt: number): boolean => Number(facts.ended.get(id)?.at) < arrivedAt;

const judgeToken = (asked: Asked, token: string, arrivedAt: number, judge: Judge): void => {
  const { path, body, headers } = asked;
  const id = sessionOf(token);
  judge('a session that has ended gives no token', !hadEnded(id, arrivedAt));
  const once = (rule: Rule, what: string | undefined, result: string): void => {
    const former = internet.uses.get(what);
    internet.uses.set(what, { result, at: arrivedAt });
    judge(rule, !former || former.result === result, forgotSince(former?.at));
  };
  if (path === REFRESH && !world.replays && !sessionRow(id)?.deviceKey)
    once('of any number of concurrent uses of a token one succeeds', claimsOf(tokenOf(asked))?.jti, token);
  const isGiven = /\/callback\?|^\/auth\/(adopt|login\/app)$/.test(path) || /"[0-9A-Z-]{29}"/.test(body ?? '');
  if (isGiven) once('of what works once one use succeeds', path + body, id);
  else if (headers?.dpop) once('of what works once one use succeeds', headers.dpop, token);
};

const judgeAnswer = (asked: Asked, answer: Answer, arrivedAt: number, judge: Judge): void => {
  const { method, path, body } = asked;
  const own = sessionOf(tokenOf(asked));
  const row = sessionRow(own);
  const access = sessionOf(accessTokenOf(asked));
  const isRead = method === 'GET' && /^\/(users\/me|auth\/gateway)$/.test(path) && answer.status === 200;
  judge('no request fails without a fault', answer.status < 500, faultWithin(90 * SECOND));
  judge('an access token of a session that has ended is refused', !(isRead && hadEnded(access, arrivedAt)));
  if (path === '/auth/clear-cookie' && answer.status < 400 && own)
    judge('a log-out ends the session', row === undefined || isEndedWithAll(row));
  if (answer.status < 500 && answer.status !== 401 && facts.failed.delete(access || own))
    judge('a request that failed can be repeated', true);
  if (path === REFRESH && answer.status === 200) judge('nobody is logged out but for a documented reason', true);
  const [, password = ''] = /"newPassword":"([^"]*)"/.exec(body ?? '') ?? [];
  const isStored = () => database.hasStored('users', (user) => hasPassword(user, password));
  if (password && answer.status < 300) judge('the password works', isStored(), forgotSince(arrivedAt));
};

/** Any instance that is up answers, and each answer is judged. */
export const send = (asked: Asked) => {
  const arrivedAt = kernel.time;
  internet.requests += 1;
  const up = instances.filter(({ line }) => !line.isDead);
  if (up.length === 0) return { answer: kernel.sleep(5).then(() => null), hangUp: () => undefined };
  const instance = internet.chance.pick(up);
  const { answer, hangUp } = instance.request(asked);
  if (asked.path === REFRESH) internet.arrived.resolve();
  if (asked.method === 'GET' && accessTokenOf(asked)) internet.lastRead = asked;
  const judged = answer.then((value) => {
    if (value === null || instance.line.isDead) return null;
    const problems = instance.problemsOf(asked, value);
    const judge = judgeOf(() => `${asked.method} ${asked.path} ${value.status} ${codeIn(value)} ${problems}`);
    note(asked, value, arrivedAt);
    judge('each answer is as the OpenAPI document says', problems.length === 0);
    judgeAnswer(asked, value, arrivedAt, judge);
    const token = tokenIn(value);
    if (token !== undefined) judgeToken(asked, token, arrivedAt, judge);
    return value;
  });
  void within(`${asked.method} ${asked.path}`, judged, 45 * SECOND);
  return { answer: judged, hangUp };
};
export const ask = (asked: Asked) => send(asked).answer;
/** Resolves when a refresh arrives: at any moment, faults hardly ever meet one. */
export const atRefresh = (): Promise<void> => {
  internet.arrived = Promise.withResolvers();
  return Promise.race([internet.arrived.promise, kernel.sleep(20 * MINUTE)]);
};
export const askForLogIn = (address: string, account: string, password = '') =>
  ask({ method: 'POST', path: '/auth/login', address, ...json({ account, password }) });

/** Whether a session was ended by a change of its own that was answered by a failure. */
const isEndedByFailure = (id: string): boolean => {
  const [end, at = Number.POSITIVE_INFINITY] = [facts.ended.get(id), facts.failed.get(id)];
  const isOwn = end?.reason === 'replaced' || end?.reason === 'password-changed';
  return isOwn && end.at >= at && end.at < at + 20 * SECOND;
};

/** Why an honest user may be out. */
const excuseOf = (token: string): string | false => {
  const id = sessionOf(token);
  const [end, row] = [facts.ended.get(id), sessionRow(id)];
  const reason = end?.reason ?? 'silently';
  if (row && isEndedWithAll(row)) return 'it ended: operator';
  // Its id was made some time before it was stored.
  if (forgotSince(decodeTime(id), decodeTime(id) + 15 * SECOND)) return 'the log-in was forgotten';
  if (facts.touchedByThief.has(id)) return 'touched by a thief';
  if (Number(claimsOf(token)?.exp) * SECOND <= kernel.time + SECOND || reason === 'expired') return 'expired';
  // A tab waits two seconds for the cookie that another one is getting.
  const isLate = row?.previousTokenId === claimsOf(token)?.jti && kernel.time > Number(row?.rotatedAt) + 2 * SECOND;
  // What one tab repeats then ends the session for the others.
  if (isLate) facts.unanswered.add(id);
  const isOpen = !(row?.deviceKey || end?.isBound) && facts.unanswered.has(id);
  if (row || reason === 'token-replayed') return isOpen && 'an answer was lost, or is late';
  return reason !== 'silently' && !isEndedByFailure(id) && `it ended: ${reason}`;
};

/** A browser that has a session shows nobody. */
export const judgeLogOut = (name: string, token: string | undefined, how: string): void => {
  if (token === undefined) return;
  const id = sessionOf(token);
  const isFailure = isEndedByFailure(id) && 'a request that failed can be repeated';
  const rule = isFailure || 'nobody is logged out but for a documented reason';
  expect(rule, false, () => `${name}: ${id}: ${how}`, excuseOf(token));
};
