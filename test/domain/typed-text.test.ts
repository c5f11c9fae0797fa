import { describe, expect, it } from 'vitest';
import { CODE_PATTERN } from '../../src/domain/second-factor.ts';
import { hasHidden, typedCode, typedName, withoutHidden } from '../../src/domain/text.ts';

describe('a code that was typed', () => {
  it.each([
    ['blanks', '287 082'],
    ['blanks around it', '\t287082\n'],
    ['a hyphen', '287-082'],
    ['other hyphens and a minus', '2\u20108\u20117\u20130\u20148\u22122'],
    ['full-width digits', '２８７　０８２'],
    ['Arabic digits', '٢٨٧٠٨٢'],
    ['Persian digits', '۲۸۷۰۸۲'],
    ['Devanagari digits', '२८७०८२'],
    ['mathematical digits', '𝟚𝟠𝟟𝟘𝟠𝟚'],
    ['digits of two scripts that are side by side', '\u{116d2}\u{116e2}\u{116d7}\u{116da}\u{116d8}\u{116dc}'],
    ['blanks that cannot be broken, and characters that cannot be seen', '\u200e287\u00a0\u200b082\ufeff'],
  ])('is meant without %s', (_what, typed) => {
    expect(typedCode(typed)).toBe('287082');
  });

  it.each(['287.082', '28708', '2870829', 'l87082', '287 O82', '½87082'])('is still wrong: %s', (typed) => {
    expect(typedCode(typed)).not.toMatch(CODE_PATTERN);
  });
});

describe('an account name that was typed', () => {
  it.each([' ada ', '\tada\r\n', '\u3000ada\u00a0', '\u202aada\u202c', '\ufeffada\u200b'])(
    'is meant without what is around it: %j',
    (typed) => expect(typedName(typed)).toBe('ada'),
  );

  it('keeps what is in it', () => {
    expect(typedName('a d\u200ba')).toBe('a d\u200ba');
    expect(typedName(' \u200b ')).toBe('');
  });

  it('takes linear time', () => {
    const text = `a${' \u200b'.repeat(1_000_000)}a`;
    expect(typedName(text)).toBe(text);
  });
});

describe('a name that was chosen', () => {
  it.each([
    ['a family', '👨‍👩‍👧‍👦'],
    ['a heart on fire', '❤️‍🔥 key'],
    ['tones of skin', '🧑🏿‍🤝‍🧑🏻'],
    ['a flag of joined emoji', '🏳️‍🌈'],
    ['a flag of a region', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
    ['a flag of a country', '🇩🇪'],
    ['a key cap', '1️⃣'],
    ['Persian', 'کلید‌های من'],
    ['Hebrew', 'המפתח שלי'],
    ['Hindi', 'क्‍ष'],
    ['a variant of a character', '葛\u{e0104}'],
    ['Mongolian', 'ᠠ\u180bᠨ'],
  ])('may be in %s', (_what, name) => {
    expect(hasHidden(name)).toBe(false);
  });

  it.each([
    ['an override of its order', '\u202egnp.exe', 'gnp.exe'],
    ['an isolate', 'a\u2066b\u2069', 'ab'],
    ['a mark of direction', 'a\u200fb', 'ab'],
    ['a blank without width', 'a\u200bb', 'ab'],
    ['a joiner at its beginning', '\u200da', 'a'],
    ['a joiner at its end', 'a\u200d', 'a'],
    ['joiners in a row', 'a\u200d\u200d\u200db', 'ab'],
    ['a joiner beside a dot', 'evil\u200d.example', 'evil.example'],
    ['a soft hyphen', 'a\u00adb', 'ab'],
    ['a byte order mark', 'a\ufeffb', 'ab'],
    ['a letter without a shape', '\u3164', ''],
    ['tags that are no flag', `a\u{e0061}\u{e0062}`, 'a'],
    ['a variant of nothing', '\ufe0f', ''],
    ['a line break', 'a\nb', 'ab'],
    ['a separator of lines', 'a\u2028b', 'ab'],
    ['half a surrogate pair', 'a\ud800', 'a'],
    ['NUL', 'a\0', 'a'],
    ['an annotation', 'a\ufff9b', 'ab'],
  ])('may not have %s', (_what, name, visible) => {
    expect(hasHidden(name)).toBe(true);
    expect(withoutHidden(name)).toBe(visible);
  });
});
