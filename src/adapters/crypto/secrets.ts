import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { FactorSecrets, RandomSecrets, Secrets, SignedPurpose } from '../../application/ports/secrets.ts';
import { BASE32, CODE_DIGITS } from '../../domain/second-factor.ts';

type SecretKeys = {
  /** A private key on P-256, from which other keys are derived. */
  readonly signing: KeyObject;
  /** Keys of 32 bytes for the secrets of factors: the first one encrypts, all of them decrypt. `null`: no such secrets can be stored. */
  readonly factors: readonly [Buffer, ...Buffer[]] | null;
};

const RANDOM_BYTES = 32;

export const randomSecrets: RandomSecrets = {
  random: () => randomBytes(RANDOM_BYTES).toString('base64url'),
  hashOf: (secret) => hash('sha256', secret, 'base64url'),
};

export const secretsWith = ({ signing, factors }: SecretKeys): Secrets => ({
  ...randomSecrets,
  ...signedValues(signing),
  ...encryptedTexts(signing),
  oneTimePassword,
  factors: factors && factorSecrets(factors),
});

const MAX_SIGNED_LENGTH = 300;
const SIGNED_TEXT = /^(?<userId>\w*)\.(?<sessionId>\w*)\.(?<expiry>[\da-z]+)\.(?<value>[\w.-]*)\.(?<mac>[\w-]{43})$/;

/** Values with an HMAC-SHA256, whose key is derived from `privateKey`, so that instances with the same `privateKey` accept each other's values. */
export const signedValues = (privateKey: KeyObject): Pick<Secrets, 'sign' | 'unsign'> => {
  const key = keyFor(privateKey, 'seals of devices');
  const macOf = (purpose: SignedPurpose, text: string): string =>
    createHmac('sha256', key).update(`${purpose}.${text}`).digest('base64url');
  return {
    sign: ({ purpose, userId, sessionId, value, expiresAt }) => {
      const text = `${userId}.${sessionId}.${expiresAt.toString(36)}.${value}`;
      return `${text}.${macOf(purpose, text)}`;
    },
    unsign: (text, purpose, now) => {
      const parts = text.length > MAX_SIGNED_LENGTH ? null : SIGNED_TEXT.exec(text);
      if (parts === null) return null;
      const { userId = '', sessionId = '', expiry = '', value = '', mac = '' } = parts.groups ?? {};
      const expected = macOf(purpose, text.slice(0, -mac.length - 1));
      if (!timingSafeEqual(Buffer.from(mac), Buffer.from(expected))) return null;
      const expiresAt = Number.parseInt(expiry, 36);
      return now < expiresAt ? { purpose, userId, sessionId, value, expiresAt } : null;
    },
  };
};

/** Hashes values that are only compared, such as addresses. A key, which all instances derive, keeps others from finding an address by hashing all of them. */
export const keyedHash = (privateKey: KeyObject): RandomSecrets['hashOf'] => {
  const key = keyFor(privateKey, 'names of counts').toString('base64url');
  // An HMAC would take several times as long. It would only prevent length extension, which does not help to find an address.
  return (text) => hash('sha256', key + text, 'base64url');
};

/** Derives the name under which an answer is stored, and the key that encrypts it, from a secret text of the request. */
export const encryptionFromSecret = (secret: string) => {
  const { encrypt, decrypt } = factorSecrets([deriveKey(secret, 'key of an answer')]);
  return {
    name: deriveKey(secret, 'name of an answer').toString('base64url'),
    encrypt: (text: string) => encrypt(text, ''),
    decrypt: (text: string) => decrypt(text, ''),
  };
};

const keyFor = (privateKey: KeyObject, use: string): Buffer => {
  const { d = '' } = privateKey.export({ format: 'jwk' });
  return deriveKey(Buffer.from(d, 'base64url'), use);
};

/** Derives a key of 32 bytes for one use (HKDF, RFC 5869). A key for one use does not reveal the key for another. */
const deriveKey = (secret: Buffer | string, use: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', use, 32));

/** Encryption of values that the browser stores and must not read. */
const encryptedTexts = (privateKey: KeyObject): Pick<Secrets, 'encrypt' | 'decrypt'> => {
  const { encrypt, decrypt } = factorSecrets([keyFor(privateKey, 'state of pages')]);
  return {
    encrypt: (text, expiresAt) => encrypt(JSON.stringify([expiresAt, text]), ''),
    decrypt: (encrypted, now) => {
      const [expiresAt, text] = JSON.parse(decrypt(encrypted, '') ?? '[0]');
      return now < expiresAt ? text : null;
    },
  };
};

/** Decodes Base32 (RFC 4648 §6). Bits at the end that do not fill a byte are dropped. */
const base32Bytes = (secret: string): Buffer => {
  const bits = [...secret].map((character) => BASE32.indexOf(character).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};

/** RFC 4226 §5.3: 31 bits of the MAC. Their offset, in bytes, is in its last four bits. */
const truncatedMac = (mac: Buffer): number => mac.readUInt32BE((mac[mac.length - 1] ?? 0) & 0xf) & 0x7fff_ffff;

/** A time-based one-time password (RFC 6238) with HMAC-SHA-1. @param secret in Base32. @param step the number of periods since 1970 */
export const oneTimePassword = (secret: string, step: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', base32Bytes(secret)).update(counter).digest();
  return `${truncatedMac(mac) % 10 ** CODE_DIGITS}`.padStart(CODE_DIGITS, '0');
};

const CIPHER = 'aes-256-gcm';
/** Bytes. Random IVs are safe for 2^32 texts with one key (NIST SP 800-38D §8.3). */
const IV_SIZE = 12;
const TAG_SIZE = 16;
/** `id` names the key, `content` is the IV, the ciphertext and the tag. */
const ENCRYPTED_TEXT = /^(?<id>[\w-]{11})\.(?<content>[\w-]+)$/;

const idOf = (key: Buffer): string => hash('sha256', key, 'buffer').subarray(0, 8).toString('base64url');

/** AES-256-GCM, with the id of the user, if there is one, as additional data. @param keys of 32 bytes: the first one encrypts, all of them decrypt. */
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
      const { id = '', content = '' } = ENCRYPTED_TEXT.exec(text)?.groups ?? {};
      const key = byId.get(id);
      const bytes = Buffer.from(content, 'base64url');
      // Several texts of base64url may stand for the same bytes. Only the canonical one is accepted.
      if (key === undefined || bytes.length < IV_SIZE + TAG_SIZE || bytes.toString('base64url') !== content)
        return null;
      return decryptWith(key, bytes, userId);
    },
    isCurrent: (text) => text.startsWith(`${currentId}.`),
  };
};

const decryptWith = (key: Buffer, bytes: Buffer, userId: string): string | null => {
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_SIZE), { authTagLength: TAG_SIZE })
    .setAAD(Buffer.from(userId))
    .setAuthTag(bytes.subarray(-TAG_SIZE));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(IV_SIZE, -TAG_SIZE)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
};
