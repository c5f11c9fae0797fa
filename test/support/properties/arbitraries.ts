import fc from 'fast-check';

/** Characters and others that differ only in letter case, width or composition. */
const LOOKALIKES: Readonly<Record<string, readonly string[]>> = {
  a: ['A', '\uff41', '\u0430', '\u00e4', 'a\u0308', '\u212b'],
  i: ['I', '\u0130', '\u0131', '\uff29', 'i\u0307'],
  k: ['K', '\u212a', '\uff4b'],
  o: ['O', '\u03bf', '\u00f6', 'o\u0308'],
  s: ['S', '\u017f', '\u00df', '\u1e9e', 'ss', '\u03c3', '\u03c2', '\u03a3'],
  '.': ['\u3002', '\uff0e'],
  '@': ['\uff20'],
};

const swap = (letter: string, choice: number): string => {
  const others = LOOKALIKES[letter.toLowerCase()] ?? [letter.toUpperCase(), letter.toLowerCase()];
  return others[choice % others.length] ?? letter;
};

/** The same text with every letter in either case. */
export const inAnyCase = (text: string): fc.Arbitrary<string> =>
  fc
    .infiniteStream(fc.boolean())
    .map((upper) =>
      [...text].map((letter) => (upper.next().value ? letter.toUpperCase() : letter.toLowerCase())).join(''),
    );

/** The same text, or one that an inexact comparison would confuse with it. */
export const lookingLike = (text: string): fc.Arbitrary<string> =>
  fc.oneof(
    inAnyCase(text),
    fc
      .array(fc.option(fc.nat({ max: 9 })), { minLength: [...text].length, maxLength: [...text].length })
      .map((choices) =>
        [...text].map((letter, at) => (choices[at] == null ? letter : swap(letter, choices[at]))).join(''),
      ),
    fc.constantFrom('', ' ', '\t', '\u00a0', '\ufeff', '\u200b').map((edge) => `${edge}${text}${edge}`),
  );

const letters = (alphabet: string, minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength });

/** Usernames of letters with lookalikes, so that two of them often collide. */
export const username = letters('aikosAIKOS.-_0', 3, 32);
export const email = fc
  .tuple(
    letters('aikosAIKOS', 1, 20),
    letters("aikosAIKOS0'+_", 1, 20),
    fc.constantFrom('kiosk.is', 'SKI.co.uk', 'x.oi'),
  )
  .map(([first, second, domain]) => `${first}.${second}@${domain}`);

/** Any UTF-16, including lone surrogates and NUL. */
export const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
);
