import type { Origin } from './event.ts';

/** What was asked for an address by somebody who is not logged in: whether it has an account is looked up when it is sent. */
const REQUEST_KINDS = ['password-reset-request', 'email-verification-request'] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** What can be told by email. */
export const MESSAGE_KINDS = [
  ...REQUEST_KINDS,
  'password-reset',
  'email-verification',
  'address-taken',
  'email-change',
  'email-changed',
  'email-change-final',
  'email-change-undone',
  'password-changed',
  'password-was-reset',
  'new-device',
  'token-replayed',
] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

/** The notices about an account that can be switched off. */
export const NOTICES = ['new-device', 'password', 'email', 'replay'] as const;
export type Notice = (typeof NOTICES)[number];

/** A message that is to be sent. It holds no link: the token of a link is made when the message is sent. */
export type Message = {
  /** ULID. */
  readonly id: string;
  readonly kind: MessageKind;
  /** `null` while it is not known whether the address has an account. */
  readonly userId: string | null;
  /** The address to send it to. */
  readonly to: string;
  /** An address that the message is about, besides the one that it is sent to; `null` for most kinds. */
  readonly email: string | null;
  /** What caused it. */
  readonly origin: Origin;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** How often it was tried to send it. */
  readonly attempts: number;
};

/** What a change says about a message to send. The rest is added when it is recorded. */
export type Telling = Pick<Message, 'kind' | 'userId' | 'to'> & Partial<Pick<Message, 'email'>>;

type OfRequest = { readonly kind: RequestKind };

export const isRequest = <Given extends Pick<Message, 'kind'>>(message: Given): message is Given & OfRequest =>
  REQUEST_KINDS.some((each) => each === message.kind);

/** What is sent or not, or is one or the other of these, depending on whether an address has an account that only its owner may know of. */
export const SECRET_KINDS: readonly MessageKind[] = [...REQUEST_KINDS, 'email-verification', 'address-taken'];

/**
 * Whether the work on a message must not begin at a moment that somebody else can choose: the time of a response to them then would show
 * whether an address has an account. That of a further attempt shows whether there was a first one.
 */
export const mayWait = ({ kind, attempts }: Pick<Message, 'kind' | 'attempts'>): boolean =>
  attempts > 0 || SECRET_KINDS.includes(kind);

export const newMessage = (
  { kind, userId, to, email = null }: Telling,
  { id, at, origin }: { readonly id: string; readonly at: number; readonly origin: Origin },
): Message => ({ id, kind, userId, to, email, origin, createdAt: at, attempts: 0 });

/** When a message is tried again, and when no more. Times in milliseconds. */

const FIRST_DELAY = 10_000;
const LONGEST_DELAY = 3_600_000;

/** Between half and all of 10 s, doubled with each attempt, up to an hour. @param random from 0 to 1, so that messages spread. */
export const retryDelay = (attempts: number, random: number): number =>
  Math.round(Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (attempts - 1)) * (1 - random / 2));

const DAY = 86_400_000;

/** Somebody waits for this one at a screen. Days later it would only alarm its reader. */
const SOON = 6 * 3_600_000;
const WAITED_FOR: readonly MessageKind[] = ['password-reset-request', 'password-reset'];

/** How long it is tried to send a message of this kind. Links do not grow old meanwhile: they are made when they are sent. */
const patienceFor = (kind: MessageKind): number => (WAITED_FOR.includes(kind) ? SOON : 2 * DAY);

/** Whether a message that could not be sent is not tried again. */
export const isGivenUp = ({ kind, createdAt }: Pick<Message, 'kind' | 'createdAt'>, now: number): boolean =>
  now - createdAt >= patienceFor(kind);
