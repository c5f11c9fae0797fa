import { decoded } from '../../src/adapters/crypto/es256.ts';
import type { Row } from '../../src/adapters/records/memory.ts';
import { isCovered, type MassEnding, type Session } from '../../src/domain/session.ts';
import type { Change, SimulatedDatabase } from './database.ts';
import { type Chance, kernel } from './kernel.ts';
import type { Story } from './rules.ts';
import type { Answer, Asked } from './service.ts';

/** What has happened to sessions, passwords and mails, as the rules need it. */

export type Letter = { readonly to: string; readonly text: string };
type Ended = { readonly at: number; readonly reason: string; readonly isBound: boolean };
export type Facts = ReturnType<typeof openFacts>;
/** What most parts of a world know. */
export type Here = { readonly chance: Chance; readonly story: Story; readonly facts: Facts };

export const partOf = (token: string, part: 0 | 1) =>
  decoded(token.split('.')[part] ?? '') as Record<string, string> | null;
export const sessionOf = (token = ''): string => partOf(token, 0)?.sid ?? '';
export const tokenIdOf = (token = ''): string => partOf(token, 1)?.jti ?? '';
const refreshTokenIn = (cookies: string): string | undefined => /\brefresh_token=([\w.-]+)/.exec(cookies)?.[1];
export const tokenOf = ({ headers }: Asked): string | undefined => refreshTokenIn(headers.cookie ?? '');
export const tokenIn = ({ cookies }: Answer): string | undefined => refreshTokenIn(cookies.join());
export const accessTokenOf = ({ headers }: Asked): string | undefined => headers.authorization?.split(' ')[1];

export const openFacts = ({ rows, watchers }: SimulatedDatabase, story: Story) => {
  const facts = {
    /** When the last fault ended; `Infinity` while there is one. */
    lastFault: Number.NEGATIVE_INFINITY,
    /** When fail-overs forgot commits. */
    forgotten: [] as number[],
    /** When sessions began and ended, by their ids. */
    opened: new Map<string, number>(),
    ended: new Map<string, Ended>(),
    touchedByThief: new Set<string>(),
    /** Sessions with an answer that was lost on its way, or with an instance. */
    unanswered: new Set<string>(),
    /** When changes by sessions arrived that were answered by a retryable failure. */
    failed: new Map<string, number>(),
    /** The last access token of each session. */
    tokens: new Map<string, string>(),
    /** When browsers got answers to refreshes of a session. */
    refreshes: new Map<string, number[]>(),
    /** Mails, as they came, and the addresses of those that were sent, by their ids. */
    letters: [] as Letter[],
    sent: new Map<string, string>(),
    /** When the name or the password of a user was changed last, by the former name. */
    passwords: new Map<unknown, number>(),
    forgotSince: (time = Number.POSITIVE_INFINITY) => facts.forgotten.some((at) => at >= time) && 'forgotten',
    faultWithin: (milliseconds: number) => kernel.time - facts.lastFault <= milliseconds && 'a fault',
    rowOf: (id: string) => rows('sessions').find((row) => row.id === id),
    /** Such a session is removed some time later. */
    endedWithAll: (row: Row): boolean =>
      rows('massEndings').some((ending) => isCovered(row as unknown as Session, ending as unknown as MassEnding)),
  };
  const noteSession = ({ key, before, after }: Change, changes: readonly Change[]): void => {
    const [id = ''] = JSON.parse(key) as string[];
    if (before === undefined) facts.opened.set(id, kernel.time);
    if (before === undefined || after !== undefined) return;
    const isEnd = (row?: Row) => row?.kind === 'session-ended' && row.sessionId === id;
    const event = changes.find((each) => each.table === 'events' && isEnd(each.after));
    const isGone = changes.some((each) => each.table === 'users' && each.after === undefined);
    const otherwise = (isGone && 'account-deleted') || (facts.endedWithAll(before) && 'operator') || 'silently';
    const reason = String(event?.after?.reason ?? otherwise);
    facts.ended.set(id, { at: kernel.time, reason, isBound: before.deviceKey !== null });
    story.tell(`session ${id} ended: ${reason}`);
  };
  watchers.push((changes) => {
    for (const change of changes) {
      const { table, before, after } = change;
      if (table === 'sessions') noteSession(change, changes);
      if (table !== 'users' || before === undefined) continue;
      if (before.passwordHash !== after?.passwordHash || before.username !== after?.username)
        facts.passwords.set(before.username, kernel.time);
    }
  });
  return facts;
};
