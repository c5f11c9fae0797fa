import type { Tables } from '../../../src/application/storage/tables.ts';
import { EVENT_KINDS, type EventKind } from '../../../src/domain/event.ts';
import type { MessageKind } from '../../../src/domain/message.ts';
import type { Contents } from './failing.ts';

/** The event that a kind of message reports, where the names differ. `null` means that the message reports no event. */
const REPORTED_EVENTS: Readonly<Partial<Record<MessageKind, EventKind | null>>> = {
  'password-reset': null,
  'password-was-reset': 'password-reset',
  'new-device': 'logged-in',
  'email-change': 'email-change-requested',
};
const isEvent = (kind: string): kind is EventKind => EVENT_KINDS.some((each) => each === kind);

/** The rules between rows that the contents break. They must hold whatever statement has failed. */
export const brokenRules = (contents: Contents): readonly string[] => {
  const rows = <Name extends keyof Tables>(name: Name) => (contents.get(name) ?? []) as unknown as Tables[Name][];
  const users = new Map(rows('users').map((user) => [user.id, user]));
  const eventsOf = Map.groupBy(rows('events'), ({ userId }) => userId);
  const has = (userId: string | null, isMeant: (event: Tables['events']) => boolean) =>
    eventsOf.get(userId ?? '')?.some(isMeant) === true;
  /** Log-ins that are counted together have only one event, that of the first. */
  const hasCountedLogIns = (userId: string) => has(userId, ({ kind, count }) => kind === 'logged-in' && count > 1);
  const live = new Set(rows('sessions').map(({ id }) => id));
  const sequences = new Map(rows('webhookSequences').map(({ userId, sequence }) => [userId, sequence]));
  const apps = Map.groupBy(rows('factors'), ({ userId }) => userId);
  const codes = new Set(rows('recoveryCodes').map(({ userId }) => userId));
  const keys = new Set(rows('passkeys').map(({ userId }) => userId));
  const hasApp = (id: string) => apps.get(id)?.some(({ confirmedAt }) => confirmedAt !== null) === true;
  const broken = (rule: string, isBroken: boolean): string[] => (isBroken ? [rule] : []);
  return [
    ...[...contents].flatMap(([name, each]) =>
      name === 'deliveries' || name === 'endedSessions'
        ? []
        : each.flatMap(({ userId }) =>
            broken(`a row of ${name} has no user`, typeof userId === 'string' && !users.has(userId)),
          ),
    ),
    ...rows('sessions').flatMap(({ id, userId }) => [
      ...broken(
        'a session has no event that opened it',
        !has(userId, ({ sessionId }) => sessionId === id) && !hasCountedLogIns(userId),
      ),
      ...broken(
        'a session that has ended is live',
        has(userId, ({ kind, sessionId }) => kind === 'session-ended' && sessionId === id),
      ),
    ]),
    ...rows('endedSessions').flatMap(({ sessionId }) =>
      broken('a live session is in the list of ended ones', sessionId !== null && live.has(sessionId)),
    ),
    ...rows('outbox').flatMap(({ kind, userId, createdAt }) => {
      const reported = REPORTED_EVENTS[kind] === undefined ? kind : REPORTED_EVENTS[kind];
      if (reported === null || !isEvent(reported)) return [];
      return broken(
        `a mail tells of ${reported}, which has not happened`,
        !has(userId, (event) => event.kind === reported && event.at <= createdAt),
      );
    }),
    ...rows('deliveries').flatMap(({ userId, sequence, event }) => [
      ...broken('a delivery has no number of its user', users.has(userId) && sequence > (sequences.get(userId) ?? 0)),
      ...broken(
        `a delivery tells of ${event.type}, which has not happened`,
        users.has(userId) && !has(userId, ({ id }) => id === event.id) && !hasCountedLogIns(userId),
      ),
    ]),
    ...[...users.values()].flatMap(({ id, secondFactorAt }) => [
      ...broken(
        'a user has an app and no second factor, or the other way round',
        (secondFactorAt !== null) !== hasApp(id),
      ),
      ...broken('a user has recovery codes without an app or a passkey', codes.has(id) && !hasApp(id) && !keys.has(id)),
      ...broken('a user has no event of the account', !eventsOf.has(id)),
    ]),
  ];
};
