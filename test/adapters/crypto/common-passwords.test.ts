import { describe, expect, it } from 'vitest';
import { isCommonPassword } from '../../../src/adapters/crypto/known-passwords.ts';

describe('isCommonPassword', () => {
  it.each(['password', '12345678', 'qwertyuiop', 'iloveyou', 'trustno1'])(
    'recognizes %s, in any letter case',
    (password) => {
      for (const written of [
        password,
        password.toUpperCase(),
        password.replace(/[a-z]/, (letter) => letter.toUpperCase()),
      ])
        expect(isCommonPassword(written), written).toBe(true);
    },
  );

  it.each([
    ...[' password', 'password ', 'password\0', 'password-password', '', 'correct horse battery', 'constructor'],
    ...['__proto__', '密码 🔑 пароль'],
  ])('does not recognize %j', (password) => {
    expect(isCommonPassword(password)).toBe(false);
  });
});
