import { type Device, UNKNOWN_DEVICE } from './device.ts';

/** Where a change came from: the request and its device. */
export type Origin = Device & {
  /** `null` when no request caused it. */
  readonly requestId: string | null;
};

/** For what the service does by itself. */
export const NO_ORIGIN: Origin = { ...UNKNOWN_DEVICE, requestId: null };

/** What can happen to an account. Refreshes that succeed are not among them. */
export const EVENT_KINDS = [
  'registered',
  /** Somebody registered with the address of the account: nothing came of it, and the response did not say so. */
  'registration-refused',
  'logged-in',
  'login-refused',
  /** In place of the session that asked for a change. */
  'session-opened',
  'session-ended',
  'password-changed',
  'password-reset-requested',
  'password-reset',
  'email-verification-requested',
  'email-verified',
  'email-change-requested',
  'email-changed',
  'email-change-undone',
  'username-changed',
  'disabled',
  'enabled',
  /** Only the audit log keeps it: the events of a user are deleted with the user. */
  'deleted',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** Why a session ended. */
export const SESSION_ENDINGS = [
  'logout',
  /** Another session took its place: a log-in on the same device, or the session that a change opens. */
  'replaced',
  'ended-by-user',
  'all-ended',
  'password-changed',
  'password-reset',
  'email-change-undone',
  'token-replayed',
  'surplus',
  'expired',
  'operator',
  'account-deleted',
] as const;
export type SessionEnding = (typeof SESSION_ENDINGS)[number];

/** Something that happened to an account. It is stored with the change itself, and never changed. */
export type AccountEvent = Origin & {
  /** ULID; later events have greater ids. */
  readonly id: string;
  readonly userId: string;
  readonly kind: EventKind;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly sessionId: string | null;
  /** Why the session ended; `null` for other kinds. */
  readonly reason: SessionEnding | null;
  /** How often it happened: above 1 only for refused log-ins, which are counted by the hour. */
  readonly count: number;
};

/** What a change says about itself. The rest is added when it is recorded. */
export type Happening = Pick<AccountEvent, 'userId' | 'kind'> & Partial<Pick<AccountEvent, 'sessionId' | 'reason'>>;

export const newEvent = (
  { userId, kind, sessionId = null, reason = null }: Happening,
  { id, at, origin }: { readonly id: string; readonly at: number; readonly origin: Origin },
): AccountEvent => ({
  id,
  userId,
  kind,
  at,
  sessionId,
  reason,
  count: 1,
  requestId: origin.requestId,
  userAgent: origin.userAgent,
  address: origin.address,
});

/** Refused log-ins of one user are counted together for this long. Milliseconds. */
export const REFUSALS_PERIOD = 3_600_000;

/** The start of the period that a time is in. Epoch milliseconds. */
export const refusalsPeriodOf = (at: number): number => at - (at % REFUSALS_PERIOD);
