import type { LoginMethod } from './assurance.ts';
import { type Device, UNKNOWN_DEVICE } from './device.ts';
import { EVENT_TABLE } from './event-table.ts';
import { isVisibleLine } from './text.ts';

/** The request that caused an event or a message, and its device. */
export type Origin = Device & {
  /** `null` without a request. */
  readonly requestId: string | null;
  readonly actor?: string | null;
};

export const NO_ORIGIN: Origin = { ...UNKNOWN_DEVICE, requestId: null };

export type EventKind = keyof typeof EVENT_TABLE;
export const EVENT_KINDS = Object.keys(EVENT_TABLE) as EventKind[];

export type WebhookType = {
  [Kind in EventKind]: (typeof EVENT_TABLE)[Kind] extends { webhook: infer Type } ? Type : never;
}[EventKind];

export const webhookTypeOf = ({ kind }: { readonly kind: EventKind }): WebhookType | null => {
  const row = EVENT_TABLE[kind];
  return 'webhook' in row ? row.webhook : null;
};

export const SESSION_ENDINGS = [
  'logout',
  /** A log-in in the same browser, or a change of the account, has opened another session in its place. Of a device: it was remembered again. */
  'replaced',
  'ended-by-user',
  'all-ended',
  'password-changed',
  'password-reset',
  'email-change-undone',
  'factors-undone',
  /** The address of the account was proven for the first time. A stranger may have opened earlier sessions. */
  'address-proven',
  'token-replayed',
  'evicted',
  'expired',
  'operator',
  'account-deleted',
] as const;
export type SessionEnding = (typeof SESSION_ENDINGS)[number];

/** Something that happened to an account or an invitation. The event of a change is stored in the transaction of the change. */
export type AccountEvent = Origin & {
  /** ULID: of two events of one process, the later one has the greater id. */
  readonly id: string;
  readonly userId: string;
  readonly kind: EventKind;
  readonly at: number;
  /** The id of the session, or of the remembered device. */
  readonly sessionId: string | null;
  /** Why the session ended, or the device was forgotten; `null` for other kinds. */
  readonly reason: SessionEnding | null;
  /** How the user has logged in; `null` for other kinds, for log-ins by a recovery code alone, and for those before version 1.1.0. */
  readonly method: LoginMethod | null;
  /** A message from the operator to the user: at most 200 visible characters. */
  readonly note: string | null;
  /** The name of the operator who caused the event, or `null`. Users never see the name (`withoutOperatorName`). */
  readonly actor: string | null;
  /** How many times the event happened within its hour: 1, except for log-ins and refused ones. `id` is of the first time, other fields are of the last. */
  readonly count: number;
};

/** An entry of the list by which other services refuse access tokens that have not expired yet (ADR 0029). */
export type EndedTokens = {
  readonly id: string;
  readonly at: number;
  /** The entry covers all tokens of this user that were issued until `at`. If both ids are `null`, it covers the tokens of all users. */
  readonly userId: string | null;
  /** The entry covers all tokens of this session. */
  readonly sessionId: string | null;
  readonly reason: SessionEnding;
};

/** The entries of the list that events cause. A session that expires has no entry: its last access token expires with it, or before. */
export const endedTokensOf = (events: readonly AccountEvent[]): EndedTokens[] =>
  events.flatMap(({ id, at, userId, sessionId, kind, reason: stated, actor }): EndedTokens[] => {
    const reason = actor === null ? stated : 'operator';
    if (kind === 'session-ended' && sessionId !== null && reason !== null && stated !== 'expired')
      return [{ id, at, userId: null, sessionId, reason }];
    if (kind === 'disabled') return [{ id, at, userId, sessionId: null, reason: 'operator' }];
    if (kind === 'deleted') return [{ id, at, userId, sessionId: null, reason: reason ?? 'account-deleted' }];
    return [];
  });

export type StoredEvent = AccountEvent & {
  /** A hash of the device of a log-in or a registration; `null` for other kinds. */
  readonly device: string | null;
  /** Events of a user with the same text are counted in one row; `null` for events that are not counted. */
  readonly countedBy: string | null;
};

/** The part of an event that a use case states. `record` adds the id, the time and the origin. */
export type EventDraft = Pick<AccountEvent, 'userId' | 'kind'> &
  Partial<Pick<AccountEvent, 'sessionId' | 'reason' | 'method' | 'note'>>;

type EventContext = Pick<AccountEvent, 'id' | 'at'> & { readonly origin: Origin };

export const newEvent = (event: EventDraft, { id, at, origin }: EventContext): AccountEvent => ({
  ...{ sessionId: null, reason: null, method: null, note: null, actor: null, count: 1 },
  ...{ ...origin, ...event, id, at },
});

const NOTE_MAX_LENGTH = 200;

export const isNote = (text: string): boolean => isVisibleLine(text, NOTE_MAX_LENGTH);

export const withoutOperatorName = <Event extends Pick<AccountEvent, 'actor'>>(event: Event) => ({
  ...event,
  actor: event.actor === null ? null : ('operator' as const),
});

/** Milliseconds in which the refused log-ins of a user, and log-ins on one device by one method, are counted together. */
export const COUNTING_PERIOD = 3_600_000;

export const countingPeriodOf = (at: number): number => at - (at % COUNTING_PERIOD);

/** How many events of one user are left when there are too many (`MAX_EVENTS`). The most frequent kinds lose their oldest events, rare kinds none. */
export const EVENTS_KEPT = 1_000;

/** Merges two events into one with the sum of their counts, the id of the first, and the other fields of the last. */
export const mergedEvents = <Event extends AccountEvent>(first: Event, last: Event): Event => ({
  ...last,
  id: first.id,
  count: first.count + last.count,
});

/** The events of one user that have to be removed so that `EVENTS_KEPT` are left. */
export const surplusEvents = <Event extends AccountEvent>(events: readonly Event[]): Event[] => {
  const latestFirst = (a: Event, b: Event) => (a.id < b.id ? 1 : -1);
  const kinds = Map.groupBy(events.toSorted(latestFirst), ({ kind, reason }) => `${kind} ${reason}`);
  const placed = [...kinds.values()].flatMap((group) => group.map((event, place) => ({ event, place })));
  return placed
    .sort((a, b) => a.place - b.place || latestFirst(a.event, b.event))
    .slice(EVENTS_KEPT)
    .map(({ event }) => event);
};
