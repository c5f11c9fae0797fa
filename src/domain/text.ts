/** The alphabet of random tokens and of hashes: base64url (RFC 4648 §5). */
export const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Typed and pasted text may have blanks, hyphens, wide digits and invisible characters besides what is meant. Passwords stay as they are. */

/** A match can only begin at the first character of a run, so the time is linear. */
const EDGES = /(?<![\s\p{Cf}])[\s\p{Cf}]+$|^[\s\p{Cf}]+/gu;

/** A username or an email address without blanks and invisible characters at its ends. */
export const typedName = (text: string): string => text.replace(EDGES, '');

const SEPARATORS = /[\s\p{Pd}\p{Cf}\u2212]/gu;

/** A code of an authenticator app or a recovery code: without blanks and hyphens, and with the digits and letters of ASCII. */
export const typedCode = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(SEPARATORS, '')
    .replace(/\p{Nd}/gu, digit);

/** `٣` → `3`. The digits of a script are ten code points in a row (Unicode §4.6), and scripts side by side have a multiple of ten. */
const digit = (character: string): string => {
  const codePoint = character.codePointAt(0) ?? 0;
  let zero = codePoint;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return `${(codePoint - zero) % 10}`;
};

/** Invisible characters that change what is seen: in Persian and Indic words, variants of characters, emoji and flags. */
const JOINING = [
  String.raw`(?<=[\p{L}\p{M}])[\u200C\u200D](?=[\p{L}\p{M}\p{N} ])`,
  String.raw`(?<=[\p{ExtPict}\p{EMod}]\uFE0F?)\u200D(?=\p{ExtPict})`,
  String.raw`(?<=[\p{L}\p{M}\p{N}\p{P}\p{S}])[\u180B-\u180F\uFE00-\uFE0F\u{E0100}-\u{E01EF}]`,
  String.raw`(?<=\u{1F3F4})[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{2,6}\u{E007F}`,
].join('|');

/** Controls, lone surrogates, line separators, annotations, and characters that are invisible or reorder text (Unicode TR36, TR39). */
const HIDDEN = String.raw`[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_C}\p{DI}\uFFF9-\uFFFB]`;

const JOINING_OR_HIDDEN = new RegExp(`(${JOINING})|${HIDDEN}`, 'gu');

/** A text without characters that reorder it or hide something in it, for example for the name of a passkey. */
export const withoutHidden = (text: string): string => text.replace(JOINING_OR_HIDDEN, '$1');

export const hidesSomething = (text: string): boolean => withoutHidden(text) !== text;

/** Whether a text has at least one character and at most so many, all of them visible and on one line. */
export const isVisibleLine = (text: string, maxLength: number): boolean =>
  text.trim() !== '' && [...text].length <= maxLength && !hidesSomething(text);

/** Length in bytes of UTF-8. The domain does not depend on a platform, so `TextEncoder` is not available. */
export const utf8Length = (text: string): number => {
  let bytes = 0;
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0;
    if (codePoint < 0x80) bytes += 1;
    else if (codePoint < 0x800) bytes += 2;
    else bytes += codePoint < 0x10000 ? 3 : 4;
  }
  return bytes;
};
