import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { FactorSecrets } from '../../application/ports/secrets.ts';

const CIPHER = 'aes-256-gcm';
/** Bytes (NIST SP 800-38D §8.2.2): random ones are safe for 2^32 secrets with one key. */
const IV_SIZE = 12;
const TAG_SIZE = 16;
/** The id of the key; the IV, the ciphertext and the tag. */
const TEXT = /^(?<id>[\w-]{11})\.(?<content>[\w-]+)$/;

/** 64 bits of the hash of a key. */
const idOf = (key: Buffer): string => createHash('sha256').update(key).digest().subarray(0, 8).toString('base64url');

/** AES-256-GCM, with the id of the user as additional data. @param keys of 32 bytes: the first one encrypts, all of them decrypt. */
export const factorSecrets = (keys: readonly [Buffer, ...Buffer[]]): FactorSecrets => {
  const [current] = keys;
  const byId = new Map(keys.map((key) => [idOf(key), key]));
  const currentId = idOf(current);
  return {
    encrypt(secret, userId) {
      const iv = randomBytes(IV_SIZE);
      const cipher = createCipheriv(CIPHER, current, iv, { authTagLength: TAG_SIZE }).setAAD(Buffer.from(userId));
      const content = Buffer.concat([iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${currentId}.${content.toString('base64url')}`;
    },
    decrypt(text, userId) {
      const { id = '', content = '' } = TEXT.exec(text)?.groups ?? {};
      const key = byId.get(id);
      const bytes = Buffer.from(content, 'base64url');
      // Several texts of base64url may stand for the same bytes: only the one that was written is accepted.
      if (key === undefined || bytes.length < IV_SIZE + TAG_SIZE || bytes.toString('base64url') !== content)
        return null;
      return decrypted(key, bytes, userId);
    },
    isCurrent: (text) => text.startsWith(`${currentId}.`),
  };
};

const decrypted = (key: Buffer, bytes: Buffer, userId: string): string | null => {
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_SIZE), { authTagLength: TAG_SIZE })
    .setAAD(Buffer.from(userId))
    .setAuthTag(bytes.subarray(-TAG_SIZE));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(IV_SIZE, -TAG_SIZE)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
};
