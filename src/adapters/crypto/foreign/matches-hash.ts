import crypto from 'node:crypto';
import bcrypt from 'bcrypt';
import { hasInvalidCharacters, PASSWORD_MAX_BYTES } from '../../../domain/password.ts';
import { phpassRounds, type SaltedDigest, type SlowHash } from './foreign-hash.ts';

/** The order in which SHA-crypt writes the bytes of a digest: groups of three, with one byte of each third, then the bytes in `rest`. */
const byteOrder = (third: number, step: number, rest: readonly number[]): readonly number[] => [
  ...Array.from({ length: third }, (_, at) => at * step).flatMap((first) =>
    [2, 1, 0].map((part) => (first + part * third) % (3 * third)),
  ),
  ...rest,
];
const BYTE_ORDER = { sha256: byteOrder(10, 21, [30, 31]), sha512: byteOrder(21, 22, [63]) };

/** The limit of libxcrypt for SHA-crypt, and here for phpass: with both, each round takes longer if the password is longer. */
const MAX_PASSWORD_BYTES = 512;

/** https://www.akkadia.org/drepper/SHA-crypt.txt. @returns the key in the order of bytes in which the hash has it; `null` if the password is too long */
const shaCrypt = (password: Buffer, hash: Extract<SlowHash, { scheme: 'sha-crypt' }>): Buffer | null => {
  const { digest, rounds, salt } = hash;
  if (password.length > MAX_PASSWORD_BYTES) return null;
  const digestOfAll = (...parts: readonly Buffer[]) => crypto.hash(digest, Buffer.concat(parts), 'buffer');
  const digestOfRepeated = (times: number, part: Buffer) => digestOfAll(...Array.from({ length: times }, () => part));
  const { length } = password;
  const inner = digestOfAll(password, salt, password);
  const bits = [...length.toString(2)].reverse().map((bit) => (bit === '1' ? inner : password));
  let key = digestOfAll(password, salt, Buffer.alloc(length, inner), ...bits);
  const sequenceP = Buffer.alloc(length, digestOfRepeated(length, password));
  const sequenceS = Buffer.alloc(salt.length, digestOfRepeated(16 + key.readUInt8(0), salt));
  for (let round = 0; round < rounds; round += 1) {
    const [first, last] = round % 2 === 0 ? [key, sequenceP] : [sequenceP, key];
    key = digestOfAll(first, ...(round % 3 === 0 ? [] : [sequenceS]), ...(round % 7 === 0 ? [] : [sequenceP]), last);
  }
  return Buffer.from(BYTE_ORDER[digest].map((at) => key.readUInt8(at)));
};

/** Bytes: more than scrypt takes within the limits of ./foreign-hash.ts. */
const SCRYPT_MAX_MEMORY = 2 ** 28;

/** Whether a password matches a hash. Derived keys are compared in constant time. Blocks the thread. bcrypt reads 72 bytes of a password or its digest. */
export const matchesHash = (password: string, hash: SlowHash): boolean => {
  const matches = (text: string): boolean => {
    if (hash.scheme === 'bcrypt') return bcrypt.compareSync(bcryptInput(text, hash.digest), hash.hash);
    const key = derivedKey(text, hash);
    return key !== null && crypto.timingSafeEqual(key, hash.key);
  };
  return variantsOf(password, hash).some(matches) && !hasInvalidCharacters(password);
};

/** Forms of WordPress add a backslash before these characters of a password, and hash it with them. The API of WordPress does not. */
const WORDPRESS_ESCAPED = /['"\\]/g;

const variantsOf = (password: string, hash: SlowHash): readonly string[] => {
  const isOfWordPress = hash.scheme === 'bcrypt' && /^(?:wordpress|phpass)$/.test(hash.digest?.algorithm ?? '');
  const withBackslashes = isOfWordPress ? password.replaceAll(WORDPRESS_ESCAPED, String.raw`\$&`) : password;
  return withBackslashes === password ? [password] : [password, withBackslashes];
};

const bcryptInput = (password: string, digest: SaltedDigest | null): Buffer =>
  digest === null
    ? Buffer.from(password).subarray(0, PASSWORD_MAX_BYTES.bcrypt)
    : Buffer.from(digestText(password, digest));

const digestText = (password: string, { algorithm, salt, saltPlace }: SaltedDigest): string => {
  if (algorithm === 'wordpress') return crypto.createHmac('sha384', 'wp-sha384').update(password).digest('base64');
  if (algorithm === 'phpass') return phpassDigest(Buffer.from(password), salt).toString('hex');
  const parts = [salt, Buffer.from(password)];
  return crypto.hash(algorithm, Buffer.concat(saltPlace === 'prefix' ? parts : parts.reverse()), 'hex');
};

const phpassDigest = (password: Buffer, salt: Buffer): Buffer => {
  if (password.length > MAX_PASSWORD_BYTES) return Buffer.alloc(0);
  let digest = crypto.hash('md5', Buffer.concat([salt.subarray(1), password]), 'buffer');
  for (let round = phpassRounds(salt); round > 0; round -= 1)
    digest = crypto.hash('md5', Buffer.concat([digest, password]), 'buffer');
  return digest;
};

const derivedKey = (password: string, hash: Exclude<SlowHash, { scheme: 'bcrypt' }>): Buffer | null => {
  switch (hash.scheme) {
    case 'argon2':
      return crypto.argon2Sync(hash.variant, {
        message: password,
        nonce: hash.salt,
        parallelism: hash.parallelism,
        tagLength: hash.key.length,
        memory: hash.memoryKib,
        passes: hash.passes,
      });
    case 'scrypt':
      return scryptKey(password, hash);
    case 'pbkdf2':
      return crypto.pbkdf2Sync(password, hash.salt, hash.iterations, hash.key.length, hash.digest);
    case 'sha-crypt':
      return shaCrypt(Buffer.from(password), hash);
  }
};

const scryptKey = (password: string, hash: Extract<SlowHash, { scheme: 'scrypt' }>): Buffer => {
  const { variant, n, r, p, salt, key } = hash;
  const options = { N: n, r, p, maxmem: SCRYPT_MAX_MEMORY };
  if (variant !== 'firebase')
    return crypto.scryptSync(variant === 'plain' ? password : password.normalize('NFKC'), salt, key.length, options);
  // The key stream of AES, which `firebaseHash` has stored as the key.
  const derived = crypto.scryptSync(password, salt, 32, options);
  return crypto.createCipheriv('aes-256-ctr', derived, Buffer.alloc(16)).update(Buffer.alloc(key.length));
};
