// Proves ASVS 11.3.1, 11.3.2, 11.3.3; theft-3
import { describe, expect, it } from 'vitest';
import { factorSecrets } from '../../../src/adapters/crypto/secrets.ts';
import { anId } from '../../support/builders.ts';
import { factorKeys } from '../../support/factor-keys.ts';

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const IV_SIZE = 12;

/** WebCrypto with AES-GCM and a tag of 128 bits. */
const decryptedElsewhere = async (bytes: Uint8Array<ArrayBuffer>, userId: string): Promise<string> => {
  const [raw] = factorKeys(['a']);
  const key = await crypto.subtle.importKey('raw', new Uint8Array(raw), 'AES-GCM', false, ['decrypt']);
  const parameters = { name: 'AES-GCM', iv: bytes.subarray(0, IV_SIZE), additionalData: Buffer.from(userId) };
  return Buffer.from(await crypto.subtle.decrypt(parameters, key, bytes.subarray(IV_SIZE))).toString();
};

/** The texts that differ from one in one character. */
const changes = (text: string): string[] =>
  [...text].map((character, at) => `${text.slice(0, at)}${character === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`);

/** @param keys by their names: the first one encrypts. */
const make = (keys: Parameters<typeof factorKeys>[0]) => factorSecrets(factorKeys(keys));

describe('factorSecrets', () => {
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

describe('a secret that factorSecrets has encrypted', () => {
  const userId = anId();
  const encrypted = () => {
    const [, content = ''] = factorSecrets(factorKeys(['a']))
      .encrypt(SECRET, userId)
      .split('.');
    return new Uint8Array(Buffer.from(content, 'base64url'));
  };

  it('is decrypted by another implementation of AES-256-GCM', async () => {
    expect(await decryptedElsewhere(encrypted(), userId)).toBe(SECRET);
  });
});
