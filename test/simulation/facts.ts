import type { Row } from '../../src/adapters/records/memory.ts';
import { isCovered, type MassEnding, type Session } from '../../src/domain/session.ts';
import { type Change, database } from './database.ts';
import { Chance, DAY, kernel, tell } from './kernel.ts';

/** What a world is like, and what has happened to its sessions, passwords and mails. */

export const ACTS = ['ask', 'password', 'others', 'logout', 'visit', 'mail', 'adoption', 'passkey'] as const;
type Act = (typeof ACTS)[number];

/** What one world is like: each does one thing, and meets one fault, more often than the others. Seeds that follow each other have all of them. */
const profileOf = (seed: number, chance: Chance) => ({
  ...{ instances: 1 + chance.below(3), people: 2 + chance.below(3), browsers: 1 + chance.below(2) },
  ...{ days: chance.pick([0.1, 0.2, 0.4]), binding: chance.happens(0.5), replays: chance.happens(0.5) },
  ...{ thief: chance.happens(0.5), hot: ACTS[seed % ACTS.length] as Act, hotFault: seed },
  ...{ lifetime: chance.pick(['7d', '7d', '1h']), bindsTokens: chance.happens(0.7) },
  ...{ newDeviceCode: chance.pick(['off', 'on', 'while-mail-works']), needsPasswords: chance.happens(0.5) },
  isOver: false,
});

export let world = profileOf(0, new Chance(0));
export const horizon = (): number => world.days * DAY;

export type Letter = { readonly to: string; readonly text: string };

const nothing = () => ({
  /** When the last fault ended; `Infinity` while there is one. */
  lastFault: Number.NEGATIVE_INFINITY,
  /** When fail-overs forgot commits. */
  forgotten: [] as number[],
  /** When sessions began and ended, by their ids. */
  opened: new Map<string, number>(),
  ended: new Map<string, { readonly at: number; readonly reason: string; readonly isBound: boolean }>(),
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
});
export const facts = nothing();

export const beginWorld = (seed: number, chance: Chance, days = Number.NaN): void => {
  world = profileOf(seed, chance);
  world.days = days || world.days;
  Object.assign(facts, nothing());
};

export const forgotSince = (time = Number.POSITIVE_INFINITY) => facts.forgotten.some((at) => at >= time) && 'forgotten';
export const faultWithin = (milliseconds: number) => kernel.time - facts.lastFault <= milliseconds && 'a fault';
export const sessionRow = (id: string) => database.rows('sessions').find((row) => row.id === id);
export const userNamed = (name: string) => database.rows('users').find(({ username }) => username === name);
/** Such a session is removed some time later. */
export const isEndedWithAll = (row: Row): boolean =>
  database.rows('massEndings').some((ending) => isCovered(row as unknown as Session, ending as unknown as MassEnding));

const noteSession = ({ key, before, after }: Change, changes: readonly Change[]): void => {
  const [id = ''] = JSON.parse(key) as string[];
  if (before === undefined) facts.opened.set(id, kernel.time);
  if (before === undefined || after !== undefined) return;
  const isEnd = (row?: Row) => row?.kind === 'session-ended' && row.sessionId === id;
  const event = changes.find((each) => each.table === 'events' && isEnd(each.after));
  const isGone = changes.some((each) => each.table === 'users' && each.after === undefined);
  const otherwise = (isGone && 'account-deleted') || (isEndedWithAll(before) && 'operator') || 'silently';
  const reason = String(event?.after?.reason ?? otherwise);
  facts.ended.set(id, { at: kernel.time, reason, isBound: before.deviceKey !== null });
  tell(`session ${id} ended: ${reason}`);
};

database.watchers.push((changes) => {
  for (const change of changes) {
    const { table, before, after } = change;
    if (table === 'sessions') noteSession(change, changes);
    if (table !== 'users' || before === undefined) continue;
    if (before.passwordHash !== after?.passwordHash || before.username !== after?.username)
      facts.passwords.set(before.username, kernel.time);
  }
});
