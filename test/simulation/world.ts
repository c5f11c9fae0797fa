import type { Row } from '../../src/adapters/records/memory.ts';
import { isEndedBy, type MassEnding, type Session } from '../../src/domain/session.ts';
import { database } from './database.ts';
import { type Chance, DAY, kernel, MINUTE, perWorld, trace } from './kernel.ts';

/** The properties of a world, and facts about its sessions and mails that rules need. */

export const world = perWorld((chance) => ({
  ...{ instances: 1 + chance.below(3), people: 2 + chance.below(3), browsers: 1 + chance.below(2) },
  ...{ days: chance.pick([0.1, 0.2, 0.4]), binding: chance.happens(0.5), replays: chance.happens(0.5) },
  ...{ thief: chance.happens(0.5), lifetime: chance.pick(['7d', '7d', '1h']), bindsTokens: chance.happens(0.7) },
  ...{ newDeviceCode: chance.pick(['off', 'on', 'while-mail-works']), needsPasswords: chance.happens(0.5) },
  isOver: false,
}));
/** Any entry; half of the time the one that is frequent in this world. Consecutive seeds have different ones. */
export const pickOften = <Each>(chance: Chance, all: readonly Each[]): Each =>
  chance.happens(0.5) ? (all[kernel.seed % all.length] as Each) : chance.pick(all);
export const horizon = (): number => world.days * DAY;

export type Letter = { readonly id?: string; readonly to: string; readonly text: string };
export const facts = perWorld(() => ({
  /** When the last fault ended; `Infinity` while there is one. */
  lastFault: Number.NEGATIVE_INFINITY,
  /** The times of fail-overs that have lost commits. */
  forgotten: [] as number[],
  /** When and why sessions ended, by their ids. */
  ended: new Map<string, { readonly at: number; readonly reason: string; readonly isBound: boolean }>(),
  touchedByThief: new Set<string>(),
  /** Sessions of which an answer was lost, on its way or because an instance was killed. */
  unanswered: new Set<string>(),
  /** The tokens of refreshes that were answered by a failure, which has to leave the session unchanged. */
  failedTokens: new Set<string | undefined>(),
  /** For each session whose last change was answered by a failure, when the request arrived. */
  failed: new Map<string, number>(),
  /** The last access token of each session. */
  tokens: new Map<string, string>(),
  /** For each session, when browsers got answers to its refreshes. */
  refreshes: new Map<string, number[]>(),
  /** Mails in the order of their arrival. A link that an operator has handed over is a letter without an id. */
  letters: [] as Letter[],
  /** When the mail server last failed to accept each mail, by their ids. */
  refused: new Map<unknown, number>(),
}));

export const lettersTo = (name: string) => facts.letters.filter(({ to }) => to.startsWith(`${name}@`));

/** Excuses: `false`, or a text that says why a rule need not hold. */
export const forgotSince = (time = Number.POSITIVE_INFINITY, until = Number.POSITIVE_INFINITY) =>
  facts.forgotten.some((at) => at >= time && at <= until) && 'forgotten';
export const faultWithin = (milliseconds: number = MINUTE) =>
  kernel.time - facts.lastFault <= milliseconds && 'a fault';

export const sessionRow = (id: string) => database.rows('sessions').find((row) => row.id === id);
export const userNamed = (name: string) => database.rows('users').find(({ username }) => username === name);
export const hasPassword = (user: Row | undefined, password: string): boolean =>
  String(user?.passwordHash).endsWith(`:${password}`);
/** Whether an operator has ended the session with all others. Its row is removed some time later. */
export const isEndedWithAll = (row: Row): boolean =>
  database.rows('massEndings').some((ending) => isEndedBy(row as unknown as Session, ending as unknown as MassEnding));

database.watch('sessions', ({ key, before, after }, changes) => {
  if (before === undefined || after !== undefined) return;
  const [id = ''] = JSON.parse(key) as string[];
  const event = changes.find((each) => each.after?.kind === 'session-ended' && each.after.sessionId === id);
  const isGone = changes.some((each) => each.table === 'users' && each.after === undefined);
  const otherwise = (isGone && 'account-deleted') || (isEndedWithAll(before) && 'operator') || 'silently';
  const reason = String(event?.after?.reason ?? otherwise);
  facts.ended.set(id, { at: kernel.time, reason, isBound: before.deviceKey !== null });
  trace(`session ${id} ended: ${reason}`);
});
