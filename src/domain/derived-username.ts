import { canonicalEmail, USERNAME_MAX_LENGTH, USERNAME_MIN_LENGTH } from './user.ts';

const NOT_ALLOWED = /[^a-z0-9._-]/g;
/** Of the random numbers, as many as there are tries: with the last, a million users of one name leave it free 99 times in 100. */
const DIGITS = [2, 4, 6, 8] as const;
/** Leaves room for the longest number, and is shorter than an id. */
const NAME_MAX_LENGTH = USERNAME_MAX_LENGTH - '-12345678'.length;

/**
 * Usernames for a user who has not chosen one: the part of the address before the `@`, then the same with random numbers. Numbers in a row
 * would take as many tries as there are users of the name.
 * @param random at least 8 characters of ASCII.
 * @returns five, the preferred one first. Only the last tells nobody that somebody has the address.
 */
export const derivedUsernames = (email: string, random: string): readonly [string, ...string[]] => {
  const [local = ''] = canonicalEmail(email).split('@');
  const letters = local.replace(NOT_ALLOWED, '').slice(0, NAME_MAX_LENGTH);
  const name = letters.length < USERNAME_MIN_LENGTH ? `user-${letters}`.replace(/-$/, '') : letters;
  const number = Array.from(random, (character) => character.charCodeAt(0) % 10).join('');
  return [name, ...DIGITS.map((digits) => `${name}-${number.slice(0, digits)}`)];
};
