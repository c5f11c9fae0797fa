import type { Origin } from './event.ts';
import { SENT_MAILS, type SentMail } from './happenings.ts';
import { LOGIN_CODE_LIFETIME } from './login-code.ts';

/** Requests without authentication for a mail. Whether there is such an account is looked up when the mail is sent. */
const REQUEST_KINDS = [
  'password-reset-request',
  'email-verification-request',
  'login-code-request',
  'new-device-code-request',
] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

export const MESSAGE_KINDS = [...REQUEST_KINDS, ...SENT_MAILS];
export type MessageKind = RequestKind | SentMail;

/** A message that is still to be sent. It has no link: the token of a link is made when the message is sent. */
export type Message = {
  readonly id: string;
  readonly kind: MessageKind;
  /** `null` while it is not known whether the address has an account. */
  readonly userId: string | null;
  /** Of a request for a code: the account as a browser has named it, which may be a username. */
  readonly to: string;
  /** An address that the message is about, besides the one that it is sent to; `null` for most kinds. */
  readonly email: string | null;
  /** The language of the mail; `null`: that of the user when it is sent. */
  readonly locale: string | null;
  /**
   * Whether the address was the verified one of the account before the change that the message is about. Of a `new-device-code-request`: whether
   * the password was right; the message of a wrong one is stored as well, and dropped.
   */
  readonly wasVerified: boolean;
  readonly origin: Origin;
  readonly createdAt: number;
  readonly attempts: number;
};

/** A message as a use case states it. `enqueue` adds the id, the time and the origin. */
export type MessageDraft = Pick<Message, 'kind' | 'userId' | 'to'> &
  Partial<Pick<Message, 'email' | 'locale' | 'wasVerified' | 'createdAt'>>;

type OfRequest = { readonly kind: RequestKind };

export const isRequest = <Given extends Pick<Message, 'kind'>>(message: Given): message is Given & OfRequest =>
  REQUEST_KINDS.some((each) => each === message.kind);

/** The kinds from which a stranger could learn whether an address has an account. */
export const SECRET_KINDS: readonly MessageKind[] = [...REQUEST_KINDS, 'email-verification', 'address-taken'];

/** Mails with a code to log in, and requests for them. */
export const hasLoginCode = ({ kind }: Pick<Message, 'kind'>): boolean => LOGIN_CODE_KINDS.includes(kind);
const LOGIN_CODE_KINDS: readonly MessageKind[] = [
  'login-code',
  'login-code-request',
  'new-device-code',
  'new-device-code-request',
];

/** Of the requests with one key, one waits. Each browser that asks for a code waits for its own, so that nobody can keep it from coming. */
export const requestKey = ({ kind, to, id }: Pick<Message, 'kind' | 'to' | 'id'>): string =>
  `${kind} ${hasLoginCode({ kind }) ? id : to}`;

/**
 * Whether a message is sent only when the sender polls, at a random time. If a stranger could choose that time, the duration of their next
 * request would show how much work the message causes, and so whether the address has an account. The same holds for retries.
 */
export const waitsForPoll = ({ kind, attempts }: Pick<Message, 'kind' | 'attempts'>): boolean =>
  attempts > 0 || SECRET_KINDS.includes(kind);

export const newMessage = (
  { kind, userId, to, email = null, locale = null, wasVerified = false, createdAt }: MessageDraft,
  { id, at, origin }: { readonly id: string; readonly at: number; readonly origin: Origin },
): Message => ({ id, kind, userId, to, email, locale, wasVerified, origin, createdAt: createdAt ?? at, attempts: 0 });

const FIRST_DELAY = 10_000;
const LONGEST_DELAY = 3_600_000;

/** 10 s, doubled with each attempt, at most an hour, less up to half at random. @param random from 0 to 1. */
export const retryDelay = (attempts: number, random: number): number =>
  Math.round(Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (attempts - 1)) * (1 - random / 2));

const DAY = 86_400_000;

const SIX_HOURS = 6 * 3_600_000;
/** The user waits for these. Days later they would only alarm. */
const URGENT: readonly MessageKind[] = ['password-reset-request', 'password-reset'];

/** How long attempts to send a message are repeated. Its links do not expire meanwhile: they are made when it is sent. */
const retryPeriodOf = (kind: MessageKind): number => {
  if (hasLoginCode({ kind })) return LOGIN_CODE_LIFETIME;
  return URGENT.includes(kind) ? SIX_HOURS : 2 * DAY;
};

export const isGivenUp = ({ kind, createdAt }: Pick<Message, 'kind' | 'createdAt'>, now: number): boolean =>
  now - createdAt >= retryPeriodOf(kind);
