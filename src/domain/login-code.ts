import { BASE64URL } from './text.ts';

/** Codes by mail, in place of the password or beside it on a new device (ADR 0008), or to confirm a change. */

export const LOGIN_CODE_LIFETIME = 10 * 60_000;

/** Milliseconds after a mail with a code in which a browser or a network gets no second code for the same account. */
export const LOGIN_CODE_SPACING = 60_000;

/** How many guesses a code allows. `mailLimits` bounds the number of codes, so both together bound the guesses at an account. */
export const LOGIN_CODE_GUESSES = 5;

export const LOGIN_CODE_PATTERN = /^\d{8}$/;

/** Eight digits, nearly equally likely. @param hash a secret hash, or random bytes, in base64url, of which 48 bits are used. */
export const eightDigitsOf = (hash: string): string => {
  const number = [...hash.slice(0, 8)].reduce((sum, character) => sum * 64 + BASE64URL.indexOf(character), 0);
  return `${number % 10 ** 8}`.padStart(8, '0');
};

/** Compares two codes in constant time. */
export const isSameCode = (a: string, b: string): boolean =>
  [...a].reduce(
    (difference, digit, at) => difference | (digit.charCodeAt(0) ^ b.charCodeAt(at)),
    a.length ^ b.length,
  ) === 0;
