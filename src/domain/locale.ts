/** Language tags (BCP 47, RFC 5646), such as `de` and `de-AT`. */

export const LAST_LOCALE = 'en';

/** RFC 5646 §4.1: no language in particular, which is the default one. */
export const NO_LOCALE = 'und';

/** RFC 5646 §4.4.1: enough for every tag in use. */
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

/** Languages that people read in the way of another country, too. Traditional Chinese has other characters. */
const READ_AS = [
  [/^pt\b/, 'pt-BR'],
  [/^zh\b(?!-(?:Hant|TW|HK|MO)\b)/, 'zh-CN'],
] as const;

/** A tag and the more general ones: `de-AT`, `de` (RFC 4647 §3.4 "Lookup"), and last that of another country: `pt-PT`, `pt`, `pt-BR`. */
const generalized = (locale: string): string[] => {
  const parts = locale.split('-');
  const general = parts.map((_, at) => parts.slice(0, parts.length - at).join('-'));
  return [...new Set([...general, ...READ_AS.flatMap(([pattern, other]) => (pattern.test(locale) ? other : []))])];
};

/** Where texts in a language are looked for, in this order: `de-AT`, `de`, and the default language. */
export const fallbacksOf = (locale: string | null, defaultLocale: string): string[] => [
  ...new Set([...(locale === null ? [] : generalized(locale)), ...generalized(defaultLocale)]),
];

/**
 * The language of somebody who prefers these, the first most: the first one that there are texts in, or else the first.
 * @param available those that there are texts in.
 * @returns `null` when none is preferred.
 */
export const preferredLocale = (preferred: readonly string[], available: readonly string[]): string | null =>
  preferred.find((locale) => generalized(locale).some((each) => available.includes(each))) ?? preferred[0] ?? null;
