// Proves SPEC 2.11, 11.3; ASVS 6.2.5
import { describe, expect, it } from 'vitest';
import { isHashable, isOwnName, passwordProblem } from '../../src/domain/password.ts';

it.each([
  ['8 characters', '12345678', null],
  ['7 characters', '1234567', 'too_short'],
  ['nothing', '', 'too_short'],
  ['8 code points of 2 code units', '🔑'.repeat(8), null],
  ['7 code points in 14 code units', '🔑'.repeat(7), 'too_short'],
  ['72 bytes of one-byte characters', 'x'.repeat(72), null],
  ['73 bytes of one-byte characters', 'x'.repeat(73), 'too_long'],
  ['72 bytes of two-byte characters', 'é'.repeat(36), null],
  ['74 bytes of two-byte characters', 'é'.repeat(37), 'too_long'],
  ['72 bytes of three-byte characters', '码'.repeat(24), null],
  ['75 bytes of three-byte characters', '码'.repeat(25), 'too_long'],
  ['72 bytes of four-byte characters', '🔑'.repeat(18), null],
  ['76 bytes of four-byte characters', '🔑'.repeat(19), 'too_long'],
  ['only spaces', ' '.repeat(8), null],
  ['a NUL', 'pass\0word', 'invalid_characters'],
  ['a lone surrogate', 'password\ud83d', 'invalid_characters'],
])('passwordProblem returns the problem of %s', (_, password, problem) => {
  expect(passwordProblem(password, { minLength: 8, maxBytes: 72 })).toBe(problem);
});

describe('isHashable', () => {
  it('is true for a text that bcrypt distinguishes from every other, however short', () => {
    for (const password of ['', 'x', '12345678', 'x'.repeat(72)]) expect(isHashable(password)).toBe(true);
    for (const password of ['x'.repeat(73), 'pass\0word', '\udc00password']) expect(isHashable(password)).toBe(false);
  });

  it('agrees with the platform on the length in bytes', () => {
    for (const character of ['x', '\u007f', '\u0080', 'é', '\u07ff', '\u0800', '码', '\uffff', '\u{10000}', '🔑']) {
      for (let count = 1; count <= 73; count += 1) {
        const password = character.repeat(count);
        expect(isHashable(password), `${count} times ${character}`).toBe(Buffer.byteLength(password) <= 72);
      }
    }
  });
});

describe('isOwnName', () => {
  const ada = { username: 'Ada_Lovelace', email: ' Countess@Example.org ' };

  it.each(['Ada_Lovelace', 'ada_lovelace', 'ADA_LOVELACE', 'countess@example.org', 'Countess@Example.org', 'COUNTESS'])(
    'is true of %s',
    (password) => {
      expect(isOwnName(password, ada)).toBe(true);
    },
  );

  it.each(['', 'ada_lovelace1', ' ada_lovelace', 'ada', '@example.org', 'example.org', ' countess@example.org'])(
    'is false of %j',
    (password) => {
      expect(isOwnName(password, ada)).toBe(false);
    },
  );
});
