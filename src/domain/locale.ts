/** Language tags (BCP 47, RFC 5646), such as `de` and `de-AT`. */

export const LAST_LOCALE = 'en';

/** RFC 5646 §4.1: an undetermined language. The default language is used for it. */
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

/** Where a variant of a language may stand in for another one. Traditional Chinese has other characters. */
const READ_AS = [
  [/^pt\b/, 'pt-BR'],
  [/^zh\b(?!-(?:Hant|TW|HK|MO)\b)/, 'zh-CN'],
] as const;

/** A tag, the more general ones (RFC 4647 §3.4), and a variant that stands in: `de-AT`, `de`; `pt-PT`, `pt`, `pt-BR`. */
const generalized = (locale: string): string[] => {
  const parts = locale.split('-');
  const general = parts.map((_, at) => parts.slice(0, parts.length - at).join('-'));
  return [...new Set([...general, ...READ_AS.flatMap(([pattern, other]) => (pattern.test(locale) ? other : []))])];
};

/** The languages in which a text is looked for, in this order: `de-AT`, `de`, and the default language. */
export const fallbacksOf = (locale: string | null, defaultLocale: string): string[] => [
  ...new Set([...(locale === null ? [] : generalized(locale)), ...generalized(defaultLocale)]),
];

/** The first preferred language that has texts, or else the first preferred one; `null` without any. @param available the languages that have texts. */
export const preferredLocale = (preferred: readonly string[], available: readonly string[]): string | null =>
  preferred.find((locale) => generalized(locale).some((each) => available.includes(each))) ?? preferred[0] ?? null;
