import type { LoginMethod } from './assurance.ts';
import { HAPPENINGS } from './happenings.ts';
import { isVisibleLine, utf8Length } from './text.ts';

/** Where a session was used last, so that its user can distinguish the sessions in a list. ADR 0005. */
export type Device = {
  /** The `User-Agent` header, shortened; `null` when there was none. */
  readonly userAgent: string | null;
  /** The client's network in CIDR notation, never the full address. */
  readonly address: string | null;
};

export const UNKNOWN_DEVICE: Device = { userAgent: null, address: null };

/** Bytes of UTF-8. Limited, since any client decides what is stored. */
const USER_AGENT_MAX_BYTES = 200;
/** Control characters, format characters (which may reorder text), and lone surrogates, which cannot be stored. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** A `User-Agent` header as it is stored; `null` when no visible character is left. */
export const shortUserAgent = (text: string): string | null => {
  const visible = cut(text.replace(INVISIBLE, ''), USER_AGENT_MAX_BYTES).trim();
  return visible === '' ? null : visible;
};

/** The first bytes of a text, without the rest of a character that does not fit as a whole. */
const cut = (text: string, bytes: number): string => {
  let [kept, length] = ['', 0];
  for (const character of text) {
    length += utf8Length(character);
    if (length > bytes) break;
    kept += character;
  }
  return kept;
};

/** A version of a browser or a system, which updates change. */
const VERSION = /\d+(?:[._]\d+)*/g;

const withoutVersions = (userAgent: string | null): string | null => userAgent?.replace(VERSION, '') ?? null;

/** Whether two log-ins probably come from one device: the same network, and the same browser in any version. */
export const isSameDevice = (a: Device, b: Device): boolean =>
  a.address === b.address && withoutVersions(a.userAgent) === withoutVersions(b.userAgent);

/** Where a change came from: the request and its device. */
export type Origin = Device & {
  /** `null` when no request caused it. */
  readonly requestId: string | null;
  /** The name of the operator who caused it with a command. */
  readonly actor?: string | null;
};

export const NO_ORIGIN: Origin = { ...UNKNOWN_DEVICE, requestId: null };

export type EventKind = keyof typeof HAPPENINGS;
export const EVENT_KINDS = Object.keys(HAPPENINGS) as EventKind[];

export const SESSION_ENDINGS = [
  'logout',
  /** Another session took its place: a log-in on the same device, or the session that a change opened. */
  'replaced',
  'ended-by-user',
  'all-ended',
  'password-changed',
  'password-reset',
  'email-change-undone',
  'factors-undone',
  /** Somebody has proven the address of the account for the first time. What was opened before may be a stranger's. */
  'address-proven',
  'token-replayed',
  'evicted',
  'expired',
  'operator',
  'account-deleted',
] as const;
export type SessionEnding = (typeof SESSION_ENDINGS)[number];

/** Something that happened to an account, stored in the transaction of the change. */
export type AccountEvent = Origin & {
  /** ULID; later events have greater ids. */
  readonly id: string;
  readonly userId: string;
  readonly kind: EventKind;
  readonly at: number;
  /** Also of a remembered device. */
  readonly sessionId: string | null;
  /** Why the session ended, or the device was forgotten; `null` for other kinds. */
  readonly reason: SessionEnding | null;
  /** With what the user has logged in; `null` for other kinds, and for log-ins before version 1.1.0. */
  readonly method: LoginMethod | null;
  /** What an operator says about it to the user: at most 200 visible characters. */
  readonly note: string | null;
  /** The name of the operator who caused it; `null` if none did. Never shown to the user: see `withoutName`. */
  readonly actor: string | null;
  /** How often it happened: above 1 only for log-ins and refused log-ins, which are counted by the hour. The other fields are the last one's. */
  readonly count: number;
};

export type StoredEvent = AccountEvent & {
  /** A hash of the device of a log-in or a registration; `null` for other kinds. */
  readonly device: string | null;
  /** The same text for the events of a user that are counted in one row; `null` for others. */
  readonly countedBy: string | null;
};

/** An event as a use case states it. `record` adds the id, the time and the origin. */
export type DomainEvent = Pick<AccountEvent, 'userId' | 'kind'> &
  Partial<Pick<AccountEvent, 'sessionId' | 'reason' | 'method' | 'note'>>;

export const newEvent = (
  event: DomainEvent,
  { id, at, origin }: { readonly id: string; readonly at: number; readonly origin: Origin },
): AccountEvent => ({
  ...{ sessionId: null, reason: null, method: null, note: null, actor: null, count: 1 },
  ...{ ...origin, ...event, id, at },
});

const NOTE_MAX_LENGTH = 200;

/** Whether a text can be a note: one line without characters that hide or reorder what it says. */
export const isNote = (text: string): boolean => isVisibleLine(text, NOTE_MAX_LENGTH);

/** An event as its user may see it: that an operator caused it, but not which one. */
export const withoutName = <Shown extends Pick<AccountEvent, 'actor'>>(event: Shown) => ({
  ...event,
  actor: event.actor === null ? null : ('operator' as const),
});

/** Refused log-ins of one user, and log-ins on one device, are counted together for this long. */
export const COUNTING_PERIOD = 3_600_000;

export const countingPeriodOf = (at: number): number => at - (at % COUNTING_PERIOD);

/**
 * How many events of one user are kept. When there are a hundred more, the oldest of the most frequent kind and reason are removed. So an attacker
 * who causes many events of one kind evicts only those.
 */
export const EVENTS_KEPT = 1_000;

/** Two events that are counted in one, with the id of the first and the other fields of the last. */
export const mergedEvents = <Event extends AccountEvent>(first: Event, last: Event): Event => ({
  ...last,
  id: first.id,
  count: first.count + last.count,
});

/** Those of the events of one user that are removed, so that `EVENTS_KEPT` are left. */
export const surplusEvents = <Event extends AccountEvent>(events: readonly Event[]): Event[] => {
  const places = new Map<string, number>();
  const latestFirst = events.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const placed = latestFirst.map((event) => {
    const kind = `${event.kind} ${event.reason}`;
    const place = (places.get(kind) ?? 0) + 1;
    places.set(kind, place);
    return { event, place };
  });
  // A stable sort: of one place, the latest comes first.
  return placed
    .sort((a, b) => a.place - b.place)
    .slice(EVENTS_KEPT)
    .map(({ event }) => event);
};
