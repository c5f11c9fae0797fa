import type { Message, MessageKind } from './message.ts';

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
