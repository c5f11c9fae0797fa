// Proves ASVS 6.2.8
import { expect } from 'vitest';
import type { PasswordHasher } from '../../src/application/ports/password-hasher.ts';
import { vitestSuite } from './suite.ts';

const PASSWORD = 'correct horse battery staple';
const LONGEST = 'é'.repeat(36);
/** Longer than 72 bytes, with a NUL, or not representable in UTF-8: each would share its hash with others. */
const UNHASHABLE = [`${LONGEST}x`, `${PASSWORD}\0x`, `${PASSWORD}\ud800`];

/** @param make makes a hasher with a cost that is higher by `steps`, and a count of its comparisons. */
export const describePasswordHasher = (
  name: string,
  make: (steps?: number) => { hasher: PasswordHasher; comparisons: () => number },
  suite = vitestSuite,
) => {
  const { it } = suite;
  suite.describe(`${name} as a PasswordHasher`, () => {
    it('verifies a password against its own hash', async () => {
      const { hasher } = make();
      for (const password of [PASSWORD, LONGEST, 'x', '密码 🔑 пароль', 'כלב שמח מאוד', '👩🏽‍🚀🏳️‍🌈']) {
        expect(await hasher.verify(password, await hasher.hash(password))).toBe(true);
      }
    });

    it('rejects another password', async () => {
      const { hasher } = make();
      const hash = await hasher.hash(PASSWORD);
      for (const other of ['', PASSWORD.slice(1), `${PASSWORD} `, ` ${PASSWORD}`, hash]) {
        expect(await hasher.verify(other, hash)).toBe(false);
      }
      expect(await hasher.verify(`${LONGEST.slice(0, -1)}è`, await hasher.hash(LONGEST))).toBe(false);
    });

    it('detects a hash that was made at a lower cost than its own', async () => {
      const [usual, dearer] = [make().hasher, make(1).hasher];
      const [hash, dearHash] = [await usual.hash(PASSWORD), await dearer.hash(PASSWORD)];
      expect([usual.needsRehash(hash), usual.needsRehash(dearHash)]).toEqual([false, false]);
      expect([dearer.needsRehash(hash), dearer.needsRehash(dearHash)]).toEqual([true, false]);
      expect(await dearer.verify(PASSWORD, hash)).toBe(true);
    });

    it('makes a different hash each time', async () => {
      const { hasher } = make();
      expect(await hasher.hash(PASSWORD)).not.toBe(await hasher.hash(PASSWORD));
    });

    it('distinguishes passwords that differ only in letter case, accents or composition', async () => {
      const { hasher } = make();
      const hash = await hasher.hash('Café crème'.normalize('NFC'));
      for (const other of ['café crème', 'Cafe creme', 'Café crème'.normalize('NFD')]) {
        expect(await hasher.verify(other, hash)).toBe(false);
      }
      const decomposed = await hasher.hash('Café crème'.normalize('NFD'));
      expect(await hasher.verify('Café crème'.normalize('NFC'), decomposed)).toBe(false);
      expect(await hasher.verify('Café crème'.normalize('NFD'), decomposed)).toBe(true);
    });

    it('refuses to hash a password that would share its hash with others', async () => {
      const { hasher } = make();
      for (const password of UNHASHABLE) {
        const refusal = await hasher.hash(password).catch((error: unknown) => error);
        expect(refusal).toBeInstanceOf(RangeError);
        expect(String(refusal)).not.toContain(password.slice(0, 8));
      }
    });

    it('rejects such a password at the cost of a comparison', async () => {
      const { hasher, comparisons } = make();
      const hashes = [await hasher.hash(LONGEST), await hasher.hash(PASSWORD), await hasher.hash('')];
      const pairs = UNHASHABLE.flatMap((password) => hashes.map((hash) => ({ password, hash })));
      const before = comparisons();
      for (const { password, hash } of pairs) expect(await hasher.verify(password, hash)).toBe(false);
      expect(comparisons() - before).toBe(pairs.length);
    });

    it('rejects every password when there is no hash, at the cost of a comparison', async () => {
      const { hasher, comparisons } = make();
      const passwords = [PASSWORD, '', ...UNHASHABLE];
      const before = comparisons();
      for (const password of passwords) expect(await hasher.verify(password, null)).toBe(false);
      expect(comparisons() - before).toBe(passwords.length);
    });
  });
};
