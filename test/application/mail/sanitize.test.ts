// Proves mail-2
import { describe, expect, it } from 'vitest';
import { sanitize } from '../../../src/application/mail/write-mail.ts';

/** What programs turn into links, in a text of any client. */
const LINKABLE = /\p{L}[.。]\S|[.。]\p{L}|:\S|@\S|\\\\\S/u;
/** The brackets that make it sanitize. */
const withoutBrackets = (text: string): string => text.replaceAll(/\[[.。:\\@]\]/gu, '');

describe('a text that a client chose', () => {
  it.each([
    ['ann', 'ann'],
    ['ann.o-neil', 'ann[.]o-neil'],
    ['evil.example', 'evil[.]example'],
    ['Visit http://evil.example/?a=1 now', 'Visit http[:]//evil[.]example/?a=1 now'],
    ['www.1and1', 'www[.]1and1'],
    ['mailto:eve@localhost', 'mailto[:]eve[@]localhost'],
    ['javascript:alert(1)', 'javascript[:]alert(1)'],
    ['\\\\server\\share', '[\\][\\]server[\\]share'],
    ['evil\u200b.\u2060example', 'evil[.]example'],
    ['evil．example', 'evil[.]example'],
    ['evil。example', 'evil[。]example'],
    ['ｈｔｔｐ：／／evil', 'http[:]//evil'],
    ['a\r\n\r\nBcc: eve', 'a Bcc: eve'],
    ['\u202egnp.exe\0\x1b[31m', 'gnp[.]exe[31m'],
    ['Mozilla/5.0 (X11; Linux x86_64) Chrome/120.0.0.0', 'Mozilla/5.0 (X11; Linux x86_64) Chrome/120.0.0.0'],
    ['end. Next', 'end. Next'],
    ['lone \ud800 surrogate', 'lone surrogate'],
    ['👨‍👩‍👧 phone', '👨‍👩‍👧 phone'],
    ['کلید‌های من', 'کلید‌های من'],
    ['evil\u200d.\u200dexample', 'evil[.]example'],
    ['evil\u180e.1', 'evil\u180e[.]1'],
    ['1.\u180eevil', '1[.]\u180eevil'],
  ])('%j becomes %j', (text, expected) => {
    expect(sanitize(text)).toBe(expected);
  });

  it('is shortened, in whole characters', () => {
    expect(sanitize('👋'.repeat(121))).toBe(`${'👋'.repeat(120)}…`);
    expect(sanitize('👋'.repeat(120))).toBe('👋'.repeat(120));
  });

  it('has nothing that becomes a link, whatever is put together', () => {
    const pieces = [...'.．。:@\\/a1\u200b\u200d\ufe0f \n[]', '\ud800', 'www', ''];
    const pairs = pieces.flatMap((one) => pieces.map((other) => one + other));
    for (const text of pairs.flatMap((one) => pairs.map((other) => sanitize(one + other)))) {
      const seen = withoutBrackets(text.replaceAll(/\[[.。:\\@]\]/gu, ' '));
      if (LINKABLE.test(seen) || LINKABLE.test(seen.replaceAll(/[\p{Cf}\p{DI}]/gu, ''))) expect.unreachable(text);
      expect(text).not.toMatch(/[\p{Cc}\p{Bidi_C}\p{Zl}\p{Zp}]/u);
    }
  });
});
