import { expect } from 'vitest';
import type { PasswordBlocklist } from '../../src/application/ports/password-blocklist.ts';
import { vitestSuite } from './suite.ts';

/** @param listed passwords in lower case that the list must contain. */
export const describePasswordBlocklist = (
  name: string,
  make: () => Promise<PasswordBlocklist>,
  listed: readonly [string, ...string[]],
  suite = vitestSuite,
) => {
  const { it } = suite;
  suite.describe(`${name} as a PasswordBlocklist`, () => {
    it('recognizes each of them, in any letter case', async () => {
      const blocklist = await make();
      for (const password of listed) {
        const written = [password, password.toUpperCase(), password.replace(/[a-z]/, (letter) => letter.toUpperCase())];
        for (const each of written) expect(blocklist.isCommon(each), each).toBe(true);
      }
    });

    it('does not recognize a password that only resembles one of them', async () => {
      const blocklist = await make();
      for (const password of listed) {
        for (const other of [` ${password}`, `${password} `, `${password}\0`, `${password}-${password}`]) {
          expect(blocklist.isCommon(other), other).toBe(false);
        }
      }
      for (const other of ['', 'correct horse battery', 'constructor', '__proto__', '密码 🔑 пароль']) {
        expect(blocklist.isCommon(other), other).toBe(false);
      }
    });
  });
};
