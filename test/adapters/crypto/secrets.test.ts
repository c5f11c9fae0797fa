// Proves theft-3
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { randomSecrets } from '../../../src/adapters/crypto/secrets.ts';

const { random, hashOf } = randomSecrets;

describe('a random secret', () => {
  it('has 256 random bits, in 43 characters of base64url', () => {
    const made = Array.from({ length: 5_000 }, random);
    for (const secret of made) expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const bytes = made.map((secret) => Buffer.from(secret, 'base64url'));
    for (let bit = 0; bit < 256; bit += 1) {
      const ones = bytes.filter((each) => ((each[bit >> 3] ?? 0) >> (bit & 7)) & 1).length;
      // 2,500 are expected, with a standard deviation of 35.
      expect(Math.abs(ones - 2_500), `bit ${bit}`).toBeLessThan(350);
    }
    expect(new Set(made).size).toBe(made.length);
  });

  it('is hashed with SHA-256', () => {
    const secret = random();
    expect(Buffer.from(hashOf(secret), 'base64url')).toEqual(createHash('sha256').update(secret).digest());
  });
});
