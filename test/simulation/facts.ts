import { decoded } from '../../src/adapters/crypto/es256.ts';
import type { Row } from '../../src/adapters/records/memory-rows.ts';
import { isCovered, type MassEnding, type Session } from '../../src/domain/session.ts';
import type { Browser, Visit } from './browser.ts';
import type { Change, SimulatedDatabase } from './database.ts';
import { kernel, SECOND } from './kernel.ts';
import type { Story } from './rules.ts';
import type { Answer } from './service.ts';

/** What has happened to sessions and passwords, and the rules about it. */

export type Letter = { readonly to: string; readonly text: string };
type Ended = { readonly at: number; readonly reason: string; readonly isBound: boolean };
export type Facts = ReturnType<typeof openFacts>;

export const partOf = (token: string, part: 0 | 1) =>
  decoded(token.split('.')[part] ?? '') as Record<string, string> | null;
export const sessionOf = (token = ''): string => partOf(token, 0)?.sid ?? '';
export const subjectOf = (token = ''): string => partOf(token, 1)?.sub ?? '';
export const tokenIdOf = (token = ''): string => partOf(token, 1)?.jti ?? '';
const short = (id: string): string => id.slice(-5);
export const numberIn = (token = ''): string | undefined => partOf(token, 0)?.rot;
export const tokenIn = ({ cookies }: Answer): string | undefined =>
  cookies
    .map((text) => /^refresh_token=([^;]+)/.exec(text)?.[1])
    .find((token) => token !== undefined && token !== '""');

export const openFacts = (database: SimulatedDatabase, story: Story, { replays }: { readonly replays: boolean }) => {
  const ended = new Map<string, Ended>();
  const opened = new Map<string, number>();
  /** When fail-overs forgot commits. */
  const forgotten: number[] = [];
  const winners = new Map<string, number>();
  const facts = {
    ...{ ended, opened, forgotten },
    lastFault: Number.NEGATIVE_INFINITY,
    touchedByThief: new Set<string>(),
    /** Mails, as they came. */
    letters: [] as Letter[],
    /** The addresses of mails that were sent, by their ids. */
    sent: new Map<string, string>(),
    /** Sessions with an answer that was lost on its way, or with an instance. */
    unanswered: new Set<string>(),
    /** When changes by sessions arrived that were answered by a retryable failure. */
    failed: new Map<string, number>(),
    /** When the name or the password of a user was changed last, by the former name. */
    passwords: new Map<unknown, number>(),
    isCalm: (milliseconds: number) => kernel.time - facts.lastFault > milliseconds,
    forgotSince: (time: number) => forgotten.some((at) => at >= time),
    /** The last access token of a session. */
    tokens: new Map<string, string>(),
    rowOf: (id: string) => database.rows('sessions').find((row) => row.id === id),
    judgeAnswer: (visit: Visit, answer: Answer, arrivedAt: number) => judgeAnswer(visit, answer, arrivedAt),
    judgeLogOut: (browser: Browser, belief: Belief, how: string) => judgeLogOut(browser, belief, how),
    /** Such a session is removed some time later. */
    endedWithAll: (row: Row): boolean =>
      database
        .rows('massEndings')
        .some((ending) => isCovered(row as unknown as Session, ending as unknown as MassEnding)),
  };

  const noteSession = ({ key, before, after }: Change, changes: readonly Change[]): void => {
    const [id = ''] = JSON.parse(key) as string[];
    if (before === undefined) opened.set(id, kernel.time);
    if (before === undefined || after !== undefined) return;
    const events = changes.flatMap(({ table, after: row }) => (table === 'events' && row ? [row] : []));
    const event = events.find(({ kind, sessionId }) => kind === 'session-ended' && sessionId === id);
    const isGone = changes.some(({ table, after: row }) => table === 'users' && row === undefined);
    const otherwise = (isGone && 'account-deleted') || (facts.endedWithAll(before) && 'operator') || 'silently';
    const reason = String(event?.reason ?? otherwise);
    ended.set(id, { at: kernel.time, reason, isBound: before.deviceKey !== null });
    story.tell(`session ${short(id)} ended: ${reason}`);
  };
  const noteUser = ({ before, after }: Change): void => {
    if (before && (before.passwordHash !== after?.passwordHash || before.username !== after?.username))
      facts.passwords.set(before.username, kernel.time);
  };
  database.watchers.push((changes) => {
    for (const change of changes)
      if (change.table === 'sessions') noteSession(change, changes);
      else if (change.table === 'users') noteUser(change);
  });

  const judgeToken = ({ browser, path, sentCookie = '' }: Visit, token: string, arrivedAt: number): void => {
    const id = sessionOf(token);
    const end = ended.get(id)?.at ?? Number.POSITIVE_INFINITY;
    story.expect(
      'a session that has ended gives no token',
      end >= arrivedAt,
      () => `${browser.name} ${path}: ${short(id)}`,
      facts.forgotSince(end) && 'forgotten',
    );
    if (path !== '/auth/refresh-token' || replays || facts.rowOf(id)?.deviceKey) return;
    const { jti = '' } = partOf(sentCookie, 1) ?? {};
    const before = winners.get(jti);
    story.expect(
      'of any number of concurrent uses of a token one succeeds',
      before === undefined,
      () => `${browser.name}: ${short(id)}`,
      facts.forgotSince(before ?? Number.POSITIVE_INFINITY) && 'forgotten',
    );
    winners.set(jti, kernel.time);
  };
  const judgeAnswer = (visit: Visit, answer: Answer, arrivedAt: number): void => {
    const { method, path, browser, headers } = visit;
    const access = headers.authorization?.slice('Bearer '.length);
    const token = tokenIn(answer);
    if (token !== undefined) judgeToken(visit, token, arrivedAt);
    const issued = /"accessToken":"([^"]+)"/.exec(answer.body)?.[1];
    if (issued) facts.tokens.set(sessionOf(issued), issued);
    const session = sessionOf(access ?? visit.sentCookie);
    // Another request may have been given the token of a rotation that is reverted (ADR 0003).
    if (replays && path === '/auth/refresh-token' && answer.status >= 500) facts.unanswered.add(session);
    if (path === '/auth/refresh-token' && answer.status === 200)
      story.expect('nobody is logged out but for a documented reason', true, String);
    if (answer.status < 500 && answer.status !== 401 && facts.failed.delete(session))
      story.expect('a request that failed can be repeated', true, String);
    const code = /"code":"(\w+)"/.exec(answer.body)?.[1];
    const what = () => `${browser.name}: ${method} ${path} ${answer.status} ${code}`;
    story.expect('no error is unexpected', !/^SYS_(UNEXPECTED|SERIALIZATION)/.test(code ?? ''), what);
    story.expect(
      'no request fails without a fault',
      answer.status < 500,
      what,
      !facts.isCalm(90 * SECOND) && 'a fault',
    );
    const end = ended.get(sessionOf(access))?.at ?? Number.POSITIVE_INFINITY;
    if (path === '/users/me' && method === 'GET' && answer.status === 200)
      story.expect(
        'an access token of a session that has ended is refused',
        end >= arrivedAt,
        what,
        facts.forgotSince(end) && 'forgotten',
      );
    if (access && method !== 'GET' && answer.status >= 500) facts.failed.set(sessionOf(access), arrivedAt);
  };

  /** Whether a session was ended by a change of its own that was answered by a failure. */
  const endedByFailure = (id: string): boolean => {
    const [end, at = Number.POSITIVE_INFINITY] = [ended.get(id), facts.failed.get(id)];
    return (
      end !== undefined &&
      ['replaced', 'password-changed'].includes(end.reason) &&
      end.at >= at &&
      end.at < at + 20 * SECOND
    );
  };
  /** Whether an honest user may be out, and why. */
  const excuseOf = (id: string, { expiresAt }: Belief): string | false => {
    const [end, row, start] = [ended.get(id), facts.rowOf(id), opened.get(id) ?? 0];
    const reason = end?.reason ?? 'silently';
    if (row && facts.endedWithAll(row)) return 'it ended: operator';
    if (forgotten.some((at) => at >= start && at - 10 * SECOND <= start)) return 'the log-in was forgotten';
    if (facts.touchedByThief.has(id)) return 'touched by a thief';
    if (expiresAt <= kernel.time + SECOND || reason === 'expired') return 'expired';
    if (row !== undefined || reason === 'token-replayed')
      return !(row?.deviceKey || end?.isBound) && facts.unanswered.has(id) && 'an answer was lost';
    return reason !== 'silently' && !endedByFailure(id) && `it ended: ${reason}`;
  };
  const judgeLogOut = (browser: Browser, belief: Belief, how: string): void => {
    const { id } = belief;
    const end = ended.get(id);
    const rule = endedByFailure(id)
      ? 'a request that failed can be repeated'
      : 'nobody is logged out but for a documented reason';
    const text = () => `${browser.name}: ${short(id)} ${how}; ${end ? `it ended: ${end.reason}` : 'it lives'}`;
    story.expect(rule, false, text, excuseOf(id, belief));
  };
  return facts;
};

/** What a browser knows of its session. */
export type Belief = { readonly id: string; readonly expiresAt: number };
export const beliefOf = (token: string): Belief => ({
  id: sessionOf(token),
  expiresAt: Number(partOf(token, 1)?.exp) * 1_000,
});
