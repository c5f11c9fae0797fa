import { decodeTime } from 'ulid';
import { database } from './database.ts';
import { expect, kernel, MINUTE, perWorld, SECOND, within } from './kernel.ts';
import { type Answer, claimsOf, json, REFRESH, type Request, sessionOf, tokenIn, tokensOf } from './requests.ts';
import type { Rule } from './rules.ts';
import { instances, problemsOf } from './service.ts';
import { facts, faultWithin, forgotSince, hasPassword, isEndedWithAll, sessionRow, world } from './world.ts';

/** Sends requests to the service, and judges its answers, whoever has sent the request. */

export const internet = perWorld((chance) => ({
  ...{ chance, requests: 0, arrived: Promise.withResolvers<void>() },
  /** The last request that reads with an access token, which a thief can repeat without harm to the owner. */
  lastRead: undefined as Request | undefined,
  /** The first result of each secret that works once, and when the request arrived. */
  uses: new Map<string | undefined, { readonly result: string; readonly at: number }>(),
}));

const recordFacts = (asked: Request, { status, body }: Answer, arrivedAt: number): void => {
  const { access, refresh, id } = tokensOf(asked);
  const [, issued] = /"accessToken":"([^"]+)"/.exec(body) ?? [];
  if (issued) facts.tokens.set(sessionOf(issued), issued);
  const isFailed = status >= 500;
  // With the replay window, another request may have got the token of a rotation that was reverted since (ADR 0003).
  if (world.replays && asked.path === REFRESH && isFailed) facts.unanswered.add(id);
  if (asked.path === REFRESH && isFailed) facts.failedTokens.add(refresh);
  if (access && asked.method !== 'GET' && isFailed) facts.failed.set(id, arrivedAt);
  // A later request of another session of the user may have ended this session, so its failed request is forgotten.
  for (const other of access && status < 300 ? facts.failed.keys() : [])
    if (other !== id && claimsOf(facts.tokens.get(other)).sub === claimsOf(access).sub) facts.failed.delete(other);
};

const judgeAnswer = (asked: Request, answer: Answer, arrivedAt: number, problems: readonly string[]): void => {
  const { method, path, body = '', headers } = asked;
  const { status } = answer;
  const { refresh, access, own, id } = tokensOf(asked);
  const token = tokenIn(answer);
  const code = /"code":"(\w+)"/.exec(answer.body)?.[1];
  const judge = (rule: Rule, holds = true, excuse: string | false = false) =>
    expect(rule, holds, () => `${method} ${path} ${status} ${code} ${problems}`, excuse);
  const hadEnded = (session: string): boolean => Number(facts.ended.get(session)?.at) < arrivedAt;
  judge('each answer is as the OpenAPI document says', problems.length === 0);
  judge('no request fails without a fault', status < 500, faultWithin(90 * SECOND));
  const isRead = method === 'GET' && /^\/(users\/me|auth\/gateway)$/.test(path) && status === 200;
  judge('an access token of a session that has ended is refused', !(isRead && hadEnded(sessionOf(access))));
  const row = sessionRow(own);
  if (path === '/auth/clear-cookie' && status < 400 && own)
    judge('a log-out ends the session', !row || isEndedWithAll(row) || Number(row.expiresAt) <= kernel.time);
  if (status < 500 && status !== 401 && facts.failed.delete(id)) judge('a request that failed can be repeated');
  if (path === REFRESH && status < 300) judge('nobody is logged out but for a documented reason');
  const [, password] = /"newPassword":"([^"]+)"/.exec(body) ?? [];
  const isStored = () => database.hasStored('users', (user) => hasPassword(user, `${password}`));
  if (password && status < 300) judge('the password works', isStored(), forgotSince(arrivedAt));
  if (token === undefined) return;
  judge('a session that has ended gives no token', !hadEnded(sessionOf(token)));
  const once = (rule: Rule, what: string | undefined, result: string): void => {
    const former = internet.uses.get(what);
    internet.uses.set(what, { result, at: arrivedAt });
    judge(rule, !former || former.result === result, forgotSince(former?.at));
  };
  if (path === REFRESH && !world.replays && !sessionRow(sessionOf(token))?.deviceKey)
    once('of any number of concurrent uses of a token one succeeds', claimsOf(refresh).jti, token);
  const isGiven = /\/callback\?|^\/auth\/(adopt|login\/app)$/.test(path) || /"[0-9A-Z-]{29}"/.test(body);
  if (isGiven) once('of what works once one use succeeds', path + body, sessionOf(token));
  else if (headers?.dpop) once('of what works once one use succeeds', headers.dpop, token);
};

/** Sends a request to a random running instance. Its answer is judged; it is `null` if there is none. */
export const send = (asked: Request) => {
  const arrivedAt = kernel.time;
  internet.requests += 1;
  const up = instances.filter(({ line }) => !line.isDead);
  if (up.length === 0) return { answer: kernel.sleep(5).then(() => null), hangUp: () => undefined };
  const instance = internet.chance.pick(up);
  const { answer, hangUp } = instance.request(asked);
  if (asked.path === REFRESH) internet.arrived.resolve();
  if (asked.method === 'GET' && tokensOf(asked).access) internet.lastRead = asked;
  const judged = answer.then((value) => {
    if (value === null || instance.line.isDead) return null;
    recordFacts(asked, value, arrivedAt);
    judgeAnswer(asked, value, arrivedAt, problemsOf(instance, asked, value));
    return value;
  });
  void within(`${asked.method} ${asked.path}`, judged, 45 * SECOND);
  return { answer: judged, hangUp };
};
export const answerTo = (asked: Request) => send(asked).answer;
/** Resolves when a refresh arrives, so that a fault can meet one: at a random moment it hardly ever would. */
export const atRefresh = (): Promise<void> => {
  internet.arrived = Promise.withResolvers();
  return Promise.race([internet.arrived.promise, kernel.sleep(20 * MINUTE)]);
};
export const askForLogIn = (address: string, account: string, password = '') =>
  answerTo({ method: 'POST', path: '/auth/login', address, ...json({ account, password }) });

/** Whether a session was ended by its own request, whose answer was a failure. */
const isEndedByFailure = (id: string): boolean => {
  const [end, at = Number.POSITIVE_INFINITY] = [facts.ended.get(id), facts.failed.get(id)];
  const isOwn = end?.reason === 'replaced' || end?.reason === 'password-changed';
  return isOwn && end.at >= at && end.at < at + 20 * SECOND;
};

/** The documented reason for which an honest user may be logged out; `false` if there is none. */
const excuseOf = (token: string): string | false => {
  const id = sessionOf(token);
  const [end, row, { exp, iat, jti } = {}] = [facts.ended.get(id), sessionRow(id), claimsOf(token)];
  const reason = end?.reason ?? 'silently';
  if (row && isEndedWithAll(row)) return 'it ended: operator';
  // The id has the time at which it was made, some time before the session was stored.
  if (forgotSince(decodeTime(id), decodeTime(id) + 15 * SECOND)) return 'the log-in was forgotten';
  if (facts.touchedByThief.has(id)) return 'touched by a thief';
  if (Number(exp) * SECOND <= kernel.time + SECOND || reason === 'expired') return 'expired';
  if (Number(row?.expiresAt) <= kernel.time && forgotSince(Number(iat) * SECOND)) return 'its later end was forgotten';
  // A tab waits two seconds for the cookie that another tab is getting, and then repeats the old token, which ends the session. A failure gives no cookie.
  const isLate = row?.previousTokenId === jti && kernel.time > Number(row?.rotatedAt) + 2 * SECOND;
  if (isLate && !facts.failedTokens.has(token)) facts.unanswered.add(id);
  const isOpen = !(row?.deviceKey || end?.isBound) && facts.unanswered.has(id);
  if (row || reason === 'token-replayed') return isOpen && 'an answer was lost, or is late';
  return reason !== 'silently' && !isEndedByFailure(id) && `it ended: ${reason}`;
};

/** Judges that a browser with the token of a session shows no user. @param how the event in the trace */
export const judgeLogOut = (name: string, token: string | undefined, how: string): void => {
  if (token === undefined) return;
  const id = sessionOf(token);
  const isFailure = isEndedByFailure(id) && 'a request that failed can be repeated';
  const rule = isFailure || 'nobody is logged out but for a documented reason';
  expect(rule, false, () => `${name}: ${id}: ${how}`, excuseOf(token));
};
