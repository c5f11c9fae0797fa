import { decoded } from '../../src/adapters/crypto/es256.ts';
import type { Row } from '../../src/adapters/records/memory-rows.ts';
import type { TableName } from '../../src/adapters/records/tables.ts';
import { isCovered, type MassEnding, type Session } from '../../src/domain/session.ts';
import { ACTS, type Act, fateOf, type WayIn } from '../../src/domain/ways-in.ts';
import type { Browser, Visit } from './browser.ts';
import type { Change, SimulatedDatabase } from './database.ts';
import { kernel, MINUTE, SECOND } from './kernel.ts';
import type { Story } from './rules.ts';
import type { Answer } from './service.ts';

/** What has happened to sessions and passwords, and the rules about it. */

export type Letter = { readonly to: string; readonly text: string; readonly at: number; readonly user: unknown };
/** What somebody has done to an account, by which ways into it end. */
type Happened = { readonly act: Act; readonly user: unknown; readonly at: number };
/** Ways in that are rows. */
const ROWS: Readonly<Partial<Record<TableName, (row: Row) => WayIn>>> = {
  sessions: () => 'session',
  rememberedDevices: () => 'remembered-device',
  passkeys: () => 'passkey',
  links: ({ purpose }) => purpose as WayIn,
};
/** What is good for one request. */
const ONCE = ['token', 'invitation', 'code', 'recoveryCode', 'credential'] as const;
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
  const acts: Happened[] = [];
  const used = new Map<string, { readonly at: number; readonly once: unknown }>();
  const hashes = new Map<string, { readonly from: unknown; readonly to: unknown; readonly at: number }>();
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
    disabled: new Map<string, number>(),
    /** Emails of users whose new password was taken back, with the time. */
    takenBack: new Map<unknown, number>(),
    isCalm: (milliseconds: number) => kernel.time - facts.lastFault > milliseconds,
    forgotSince: (time: number) => forgotten.some((at) => at >= time),
    userOf: (member: 'email' | 'username', value: string) =>
      database.rows('users').find((row) => row[member] === value)?.id,
    /** What has been done to an account that ends a way into it. */
    actOn: (user: unknown, way: WayIn, since: number, until = kernel.time) =>
      acts.find(
        ({ act, at, ...other }) =>
          other.user === user &&
          at > since &&
          at < until &&
          fateOf(way, act) === 'ends' &&
          (act !== 'address-proven' || way === 'password'),
      ),
    tokens: new Map<string, string>(),
    rowOf: (id: string) => database.rows('sessions').find((row) => row.id === id),
    judgeAnswer: (visit: Visit, answer: Answer, arrivedAt: number) => judgeAnswer(visit, answer, arrivedAt),
    judgeLogOut: (browser: Browser, belief: Belief, how: string) => judgeLogOut(browser, belief, how),
  };

  /** Such a session is removed some time later. */
  const endedWithAll = (row: Row): boolean =>
    database
      .rows('massEndings')
      .some((ending) => isCovered(row as unknown as Session, ending as unknown as MassEnding));
  const noteSession = ({ key, before, after }: Change, changes: readonly Change[]): void => {
    const [id = ''] = JSON.parse(key) as string[];
    if (before === undefined) opened.set(id, kernel.time);
    if (before === undefined || after !== undefined) return;
    const events = changes.flatMap(({ table, after: row }) => (table === 'events' && row ? [row] : []));
    const event = events.find(({ kind, sessionId }) => kind === 'session-ended' && sessionId === id);
    const isGone = changes.some(({ table, after: row }) => table === 'users' && row === undefined);
    const otherwise = (isGone && 'account-deleted') || (endedWithAll(before) && 'operator') || 'silently';
    const reason = String(event?.reason ?? otherwise);
    ended.set(id, { at: kernel.time, reason, isBound: before.deviceKey !== null });
    story.tell(`session ${short(id)} ended: ${reason}`);
  };
  const noteUser = ({ before, after }: Change): void => {
    if (!before || !after || before.passwordHash === after.passwordHash) return;
    const last = hashes.get(String(after.id));
    const isRecent = last !== undefined && kernel.time - last.at < 2 * MINUTE;
    const isTakenBack = isRecent && last.from === after.passwordHash && last.to === before.passwordHash;
    if (isTakenBack) facts.takenBack.set(after.email, kernel.time);
    else facts.takenBack.delete(after.email);
    hashes.set(String(after.id), { from: before.passwordHash, to: after.passwordHash, at: kernel.time });
  };
  /** What an act of these changes had to end, and is still there. */
  const noteAct = ({ after }: Change, changes: readonly Change[]): void => {
    const { kind, userId: user, sessionId } = after ?? ({} as Row);
    const act = ACTS.find((each) => each === (kind === 'email-verified' ? 'address-proven' : kind));
    if (act === undefined) return;
    acts.push({ act, user, at: kernel.time });
    if (act === 'address-proven') return;
    const isNew = (row: Row) => changes.some(({ before, after: added }) => before === undefined && added === row);
    for (const [table, wayOf] of Object.entries(ROWS)) {
      const isLeft = (row: Row) =>
        fateOf(wayOf(row), act) === 'ends' || (fateOf(wayOf(row), act) === 'mine' && row.id !== sessionId);
      const left = database.rows(table as TableName).filter((row) => row.userId === user && !isNew(row) && isLeft(row));
      const what = () => `${act}: ${table} ${left.map((row) => `${row.purpose ?? row.id}`)}`;
      story.expect('what ends a way in ends it everywhere', left.length === 0, what);
    }
  };
  database.watchers.push((changes) => {
    for (const change of changes)
      if (change.table === 'sessions') noteSession(change, changes);
      else if (change.table === 'users') noteUser(change);
      else if (change.table === 'events' && change.before === undefined) noteAct(change, changes);
  });

  const judgeToken = ({ browser, path, sentCookie = '' }: Visit, token: string, arrivedAt: number): void => {
    const [id, user] = [sessionOf(token), subjectOf(token)];
    const end = ended.get(id)?.at ?? Number.POSITIVE_INFINITY;
    story.expect(
      'a session that has ended gives no token',
      end >= arrivedAt,
      () => `${browser.name} ${path}: ${short(id)}`,
      facts.forgotSince(end) && 'forgotten',
    );
    const since = facts.disabled.get(user) ?? Number.POSITIVE_INFINITY;
    story.expect(
      'a disabled account gets no token',
      since >= arrivedAt,
      () => `${browser.name} ${path}`,
      facts.forgotSince(since) && 'forgotten',
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
  /** What was presented, if it has opened or done something. */
  const judgeUse = ({ method, path, headers, body = '', sentCookie }: Visit, answer: Answer, arrivedAt: number) => {
    const isDone =
      [200, 201].includes(answer.status) || tokenIn(answer) || /\/link\/done/.test(answer.headers.location ?? '');
    if (method === 'GET' || !isDone || path.endsWith('/preview')) return;
    const isJson = /json/.test(headers['content-type'] ?? '');
    const sent = isJson && body ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
    const user = subjectOf(tokenIn(answer) ?? headers.authorization?.slice(7) ?? sentCookie);
    const ways: [WayIn, number][] = [];
    for (const name of ONCE.filter((each) => sent[each])) {
      const key = `${name} ${sent[name]}`;
      const { at, once } = used.get(key) ?? { at: Number.POSITIVE_INFINITY, once: sent.once };
      const what = () => `${path}: ${name}`;
      story.expect(
        'of what works once one use succeeds',
        once === sent.once,
        what,
        facts.forgotSince(at) && 'forgotten',
      );
      used.set(key, { at: kernel.time, once: sent.once });
      const letter = facts.letters.find(({ text }) => text.includes(sent[name]));
      const [, purpose] = /\/link\/([\w-]+)#/.exec(letter?.text ?? '') ?? [];
      if (letter && letter.user === user) ways.push([(purpose ?? 'mail-code') as WayIn, letter.at]);
    }
    const password = sent.password ?? sent.currentPassword;
    const known = `${user} ${password}`;
    if (password && used.has(known)) ways.push(['password', used.get(known)?.at ?? 0]);
    if (password && !used.has(known)) used.set(known, { at: kernel.time, once: null });
    for (const [way, since] of ways) {
      const by = facts.actOn(user, way, since, arrivedAt);
      const excuse = by && ((facts.forgotSince(by.at) && 'forgotten') || (facts.takenBack.size > 0 && 'taken back'));
      story.expect('what ends a way in ends it everywhere', !by, () => `${path}: ${way} after ${by?.act}`, excuse);
    }
  };
  const judgeAnswer = (visit: Visit, answer: Answer, arrivedAt: number): void => {
    const { method, path, browser, headers } = visit;
    const access = headers.authorization?.slice('Bearer '.length);
    const token = tokenIn(answer);
    if (token !== undefined) judgeToken(visit, token, arrivedAt);
    judgeUse(visit, answer, arrivedAt);
    const issued = /"accessToken":"([^"]+)"/.exec(answer.body)?.[1];
    if (issued) facts.tokens.set(sessionOf(issued), issued);
    const session = sessionOf(access ?? visit.sentCookie);
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
    if (path !== '/users/me/password' || answer.status !== 200) return;
    const others = database
      .rows('sessions')
      .filter(
        ({ id, userId }) =>
          userId === subjectOf(access) && id !== sessionOf(token) && (opened.get(String(id)) ?? 0) < arrivedAt,
      );
    story.expect('a changed password ends all other sessions', others.length === 0, what);
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
    if (row && endedWithAll(row)) return 'it ended: operator';
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
