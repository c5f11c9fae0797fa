import { describe, expect, it } from 'vitest';
import { canonicalLocale, fallbacksOf, LOCALE_MAX_LENGTH, preferredLocale } from '../../src/domain/text.ts';

const LONGEST = 'en-x-aaaaaaaa-aaaaaaaa-aaaaaaaa-aaa';

describe('a language tag', () => {
  it.each([
    ['de', 'de'],
    ['DE-at', 'de-AT'],
    ['zh-hant-tw', 'zh-Hant-TW'],
    ['iw', 'he'],
    ['sr-latn-rs', 'sr-Latn-RS'],
    [LONGEST, LONGEST],
  ])('%s has the canonical form %s', (text, tag) => {
    expect(canonicalLocale(text)).toBe(tag);
    expect(canonicalLocale(tag)).toBe(tag);
  });

  it.each([
    ...['', '*', 'd', 'de_AT', 'de-', 'de AT', ' de', 'de\n', 'de-\u0000', 'a person', '../de'],
    ...[`de-${'a'.repeat(LOCALE_MAX_LENGTH)}`, `${LONGEST}a`],
  ])('is not %j', (text) => {
    expect(canonicalLocale(text)).toBeNull();
  });
});

describe('texts in a language', () => {
  it('are looked for in the language itself, then in more general ones, then in the default', () => {
    expect(fallbacksOf('de-AT', 'fr')).toEqual(['de-AT', 'de', 'fr']);
    expect(fallbacksOf('en-US', 'en')).toEqual(['en-US', 'en']);
    expect(fallbacksOf(null, 'de')).toEqual(['de']);
  });

  it.each([
    ['pt', 'pt-BR'],
    ['pt-PT', 'pt-BR'],
    ['zh', 'zh-CN'],
    ['zh-Hans-SG', 'zh-CN'],
    ['zh-TW', 'en'],
    ['zh-Hant', 'en'],
    ['zz', 'en'],
    ['und', 'en'],
  ])('in %s are those of %s, where people write so', (locale, found) => {
    expect(fallbacksOf(locale, 'en').find((each) => ['en', 'pt-BR', 'zh-CN'].includes(each))).toBe(found);
  });

  it('are in the first preferred language that there are texts in, or else in the first', () => {
    expect(preferredLocale(['fr', 'de-AT', 'en'], ['en', 'de'])).toBe('de-AT');
    expect(preferredLocale(['fr-CA', 'it'], ['en', 'de'])).toBe('fr-CA');
    expect(preferredLocale([], ['en', 'de'])).toBeNull();
  });
});
