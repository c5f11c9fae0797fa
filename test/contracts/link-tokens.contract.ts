import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { LinkTokens } from '../../src/application/ports/link-tokens.ts';
import { vitestSuite } from './suite.ts';

const MADE = 5_000;

export const describeLinkTokens = (name: string, make: () => LinkTokens, suite = vitestSuite): void => {
  const { it } = suite;
  const take = (tokens: LinkTokens, count: number) => Array.from({ length: count }, () => tokens.next());

  suite.describe(`${name} as LinkTokens`, () => {
    it('makes tokens of 256 random bits: 43 characters of base64url', () => {
      const made = take(make(), MADE);
      for (const token of made) expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
      const bytes = made.map((token) => Buffer.from(token, 'base64url'));
      for (const [at, token] of made.entries()) expect(bytes[at]?.toString('base64url')).toBe(token);
      for (let bit = 0; bit < 256; bit += 1) {
        const ones = bytes.filter((each) => ((each[bit >> 3] ?? 0) >> (bit & 7)) & 1).length;
        // 2,500 are expected, with a standard deviation of 35.
        expect(Math.abs(ones - MADE / 2), `bit ${bit}`).toBeLessThan(350);
      }
    });

    it('never makes the same token twice', () => {
      const made = [...take(make(), MADE), ...take(make(), MADE)];
      expect(new Set(made).size).toBe(2 * MADE);
    });

    it('hashes a token to the same text each time, and other tokens to others', () => {
      const [tokens, others] = [make(), make()];
      const made = take(tokens, 100);
      const hashes = made.map((token) => tokens.hashOf(token));
      expect(made.map((token) => others.hashOf(token))).toEqual(hashes);
      expect(new Set(hashes).size).toBe(100);
      for (const [at, token] of made.entries()) {
        expect(Buffer.from(hashes[at] ?? '', 'base64url')).toEqual(createHash('sha256').update(token).digest());
      }
      const [token = ''] = made;
      for (const other of [`${token} `, token.toLowerCase(), token.slice(1), '']) {
        expect(tokens.hashOf(other)).not.toBe(tokens.hashOf(token));
      }
    });
  });
};
