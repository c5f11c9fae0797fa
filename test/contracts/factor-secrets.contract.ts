import { expect } from 'vitest';
import type { FactorSecrets } from '../../src/application/ports/factor-secrets.ts';
import { anId } from '../support/builders.ts';
import { vitestSuite } from './suite.ts';

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

/** Keys by their names: the first one encrypts. */
type MakeFactorSecrets = (keys: readonly ['a' | 'b', ...('a' | 'b')[]]) => FactorSecrets;

/** The texts that differ from one in one character. */
const changes = (text: string): string[] =>
  [...text].map((character, at) => `${text.slice(0, at)}${character === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`);

export const describeFactorSecrets = (name: string, make: MakeFactorSecrets, suite = vitestSuite): void => {
  const { it } = suite;
  suite.describe(`${name} as FactorSecrets`, () => {
    it('decrypts what it has encrypted for the same user', () => {
      const userId = anId();
      const text = make(['a']).encrypt(SECRET, userId);
      expect(make(['a']).decrypt(text, userId)).toBe(SECRET);
      expect(make(['a']).isCurrent(text)).toBe(true);
    });

    it('encrypts a secret differently each time, and shows nothing of it', () => {
      const [secrets, userId] = [make(['a']), anId()];
      const texts = Array.from({ length: 100 }, () => secrets.encrypt(SECRET, userId));
      expect(new Set(texts).size).toBe(100);
      for (const text of texts) {
        expect(text).not.toContain(SECRET.slice(0, 8));
        expect(Buffer.from(text.split('.').at(-1) ?? '', 'base64url').toString('latin1')).not.toContain(
          SECRET.slice(0, 8),
        );
      }
    });

    it('decrypts nothing for another user', () => {
      const secrets = make(['a']);
      expect(secrets.decrypt(secrets.encrypt(SECRET, anId()), anId())).toBeNull();
    });

    it('decrypts no text that was changed in any part', () => {
      const [secrets, userId] = [make(['a']), anId()];
      const text = secrets.encrypt(SECRET, userId);
      for (const other of [...changes(text), `${text}A`, `A${text}`, text.slice(0, -1), text.slice(1)])
        expect(secrets.decrypt(other, userId), other).toBeNull();
    });

    it('decrypts no text that it has not encrypted', () => {
      const [secrets, userId] = [make(['a']), anId()];
      for (const text of ['', '.', SECRET, `${'A'.repeat(11)}.`, make(['b']).encrypt(SECRET, userId)])
        expect(secrets.decrypt(text, userId)).toBeNull();
    });

    it('decrypts what was encrypted with an earlier key, and says that this is outdated', () => {
      const userId = anId();
      const text = make(['a']).encrypt(SECRET, userId);
      const rotated = make(['b', 'a']);
      expect([rotated.decrypt(text, userId), rotated.isCurrent(text)]).toEqual([SECRET, false]);
      const renewed = rotated.encrypt(SECRET, userId);
      expect([rotated.isCurrent(renewed), make(['a']).decrypt(renewed, userId)]).toEqual([true, null]);
    });
  });
};
