/** The alphabet of random tokens and of hashes: base64url (RFC 4648 §5). */
export const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Typed and pasted names and codes may contain blanks, hyphens, wide digits and invisible characters by mistake. Passwords are not changed. */

/** The lookbehind lets a match begin only at the first blank of a run, so matching takes linear time. */
const EDGES = /(?<![\s\p{Cf}])[\s\p{Cf}]+$|^[\s\p{Cf}]+/gu;

/** A username or an email address without blanks and format characters, such as a zero-width space, at its ends. */
export const typedName = (text: string): string => text.replace(EDGES, '');

const SEPARATORS = /[\s\p{Pd}\p{Cf}\u2212]/gu;

/** A typed code without blanks, hyphens and format characters, with ASCII digits in place of others, and ASCII letters in place of wide ones. */
export const typedCode = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(SEPARATORS, '')
    .replace(/\p{Nd}/gu, asciiDigit);

/** `٣` → `3`. The digits of a script are ten successive code points (Unicode §4.6), so in a run of digits, every tenth from the first is a zero. */
const asciiDigit = (character: string): string => {
  const codePoint = character.codePointAt(0) ?? 0;
  let zero = codePoint;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return `${(codePoint - zero) % 10}`;
};

/** Invisible characters that change how others look: in Persian and Indic words, in emoji, as variants of characters, and in flags. */
const JOINING_CHARACTERS = [
  String.raw`(?<=[\p{L}\p{M}])[\u200C\u200D](?=[\p{L}\p{M}\p{N} ])`,
  String.raw`(?<=[\p{ExtPict}\p{EMod}]\uFE0F?)\u200D(?=\p{ExtPict})`,
  String.raw`(?<=[\p{L}\p{M}\p{N}\p{P}\p{S}])[\u180B-\u180F\uFE00-\uFE0F\u{E0100}-\u{E01EF}]`,
  String.raw`(?<=\u{1F3F4})[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{2,6}\u{E007F}`,
].join('|');

/** Controls, lone surrogates, line separators, annotations, and characters that are invisible or reorder text (Unicode TR36, TR39). */
const HIDDEN_CHARACTERS = String.raw`[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_C}\p{DI}\uFFF9-\uFFFB]`;

const JOINING_OR_HIDDEN = new RegExp(`(${JOINING_CHARACTERS})|${HIDDEN_CHARACTERS}`, 'gu');

/** A text without characters that reorder it or hide something in it. */
export const withoutHidden = (text: string): string => text.replace(JOINING_OR_HIDDEN, '$1');

export const hasHidden = (text: string): boolean => withoutHidden(text) !== text;

/** Whether a text is one line of at most `maxLength` code points that is not blank, and hides nothing. */
export const isVisibleLine = (text: string, maxLength: number): boolean =>
  text.trim() !== '' && [...text].length <= maxLength && !hasHidden(text);

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

/** The language (BCP 47, RFC 5646) whose texts are used if neither the reader's language nor the default language has them. */
export const BASE_LOCALE = 'en';

/** RFC 5646 §4.1: an undetermined language. The default language is used for it. */
export const UNDETERMINED_LOCALE = 'und';

/** RFC 5646 §4.4.1: the least that a limit has to allow. */
export const LOCALE_MAX_LENGTH = 35;

/** The canonical form of a language tag (RFC 5646 §4.5); `null` for any other text, and for a tag that is too long. */
export const canonicalLocale = (text: string): string | null => {
  if (text.length > LOCALE_MAX_LENGTH) return null;
  try {
    const [tag = ''] = Intl.getCanonicalLocales(text);
    return tag === '' || tag.length > LOCALE_MAX_LENGTH ? null : tag;
  } catch {
    return null;
  }
};

/** Languages whose readers also understand the texts of another variant. Traditional Chinese is not among them: it has other characters. */
const VARIANTS = [
  [/^pt\b/, 'pt-BR'],
  [/^zh\b(?!-(?:Hant|TW|HK|MO)\b)/, 'zh-CN'],
] as const;

/** A tag, its more general tags (RFC 4647 §3.4), and the variant that its readers understand: `de-AT`, `de`; `pt-PT`, `pt`, `pt-BR`. */
const tagsFor = (locale: string): string[] => {
  const parts = locale.split('-');
  const general = parts.map((_, at) => parts.slice(0, parts.length - at).join('-'));
  return [...new Set([...general, ...VARIANTS.flatMap(([pattern, other]) => (pattern.test(locale) ? other : []))])];
};

/** The languages in which a text is looked for first, in this order: `de-AT`, `de`, and the default language. */
export const fallbacksOf = (locale: string | null, defaultLocale: string): string[] => [
  ...new Set([...(locale === null ? [] : tagsFor(locale)), ...tagsFor(defaultLocale)]),
];

/** The first preferred language that has texts, or else the first preferred one; `null` if none is preferred. @param available the languages with texts. */
export const preferredLocale = (preferred: readonly string[], available: readonly string[]): string | null =>
  preferred.find((locale) => tagsFor(locale).some((each) => available.includes(each))) ?? preferred[0] ?? null;
