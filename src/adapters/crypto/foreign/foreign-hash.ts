import { hasArgon2 } from '../argon2id.ts';

type SaltAndKey = { readonly salt: Buffer; readonly key: Buffer };

export type SaltedDigest = {
  /** A digest of `node:crypto`, such as `sha256`, or `phpass`, or `wordpress`, which has no salt. */
  readonly algorithm: string;
  readonly salt: Buffer;
  readonly saltPlace: 'prefix' | 'suffix';
};

/** A password hash of another system that is slow enough to compute to be stored unchanged. */
export type SlowHash =
  | {
      readonly scheme: 'bcrypt';
      readonly hash: string;
      /** The digest that bcrypt has hashed; `null` if it has hashed the password itself. */
      readonly digest: SaltedDigest | null;
    }
  | ({
      readonly scheme: 'argon2';
      readonly variant: 'argon2id' | 'argon2i' | 'argon2d';
      readonly memoryKib: number;
      readonly passes: number;
      readonly parallelism: number;
    } & SaltAndKey)
  | ({
      readonly scheme: 'scrypt';
      /** `firebase` encrypts with the derived key. `better-auth` normalizes the password first. */
      readonly variant: 'plain' | 'firebase' | 'better-auth';
      readonly n: number;
      readonly r: number;
      readonly p: number;
    } & SaltAndKey)
  | ({
      readonly scheme: 'pbkdf2';
      readonly digest: 'sha1' | 'sha256' | 'sha512';
      readonly iterations: number;
    } & SaltAndKey)
  | ({ readonly scheme: 'sha-crypt'; readonly digest: 'sha256' | 'sha512'; readonly rounds: number } & SaltAndKey);

/** A fast digest, of scheme `digest`, must be wrapped in bcrypt before it is stored, since passwords can be guessed from it too fast. */
export type ForeignHash = SlowHash | ({ readonly scheme: 'digest'; readonly hex: string } & SaltedDigest);

const CRYPT64 = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Decodes the base64 of crypt(3), in which the least significant bits come first. */
export const crypt64 = (text: string): Buffer =>
  Buffer.from(
    (text.match(/.{1,4}/g) ?? []).flatMap((part) => {
      const value = [...part].reduceRight((sum, char) => sum * 64 + CRYPT64.indexOf(char), 0);
      return [value & 255, (value >> 8) & 255, value >> 16].slice(0, part.length - 1);
    }),
  );

/** Why a hash is refused. `problem` completes a sentence whose subject is the hash: `is longer than …`. */
export type HashProblem = { readonly problem: string };

/** These limits keep a comparison below about a second of a core of 2020, and some 128 MiB. They measure no time, so they are the same on all machines. */
const MAX_BCRYPT_COST = 14;
/** The limit of a bcrypt hash of a digest: the greatest cost that this service can be configured to use when it wraps digests. */
const MAX_WRAPPING_COST = 15;
const MAX_ARGON2_KIB = 2 ** 17;
const MAX_ARGON2_KIB_TIMES_PASSES = 2 ** 18;
/** The limit of N times r times p. scrypt takes 128 bytes for each unit of N times r. */
const MAX_SCRYPT_WORK = 2 ** 20;
/** The limit of r times (p + 2). scrypt takes another 128 bytes for each unit of it. */
const MAX_SCRYPT_BLOCKS = 2 ** 16;
const MAX_PHPASS_ROUNDS = 2 ** 16;
const MAX_PBKDF2_ROUNDS = 2_500_000;
const MAX_SHA_CRYPT_ROUNDS = 2 ** 17;
const BLOCK_BYTES = { sha1: 20, sha256: 32, sha512: 64 };

const OUT_OF_RANGE = 'has a parameter that is missing or out of range';

/** Why a hash is refused; `null` for an accepted hash. A parameter that is NaN is out of range. */
export const limitProblem = (hash: ForeignHash): string | null => {
  switch (hash.scheme) {
    case 'digest':
      return costProblem(hash.algorithm !== 'phpass' || phpassRounds(hash.salt) <= MAX_PHPASS_ROUNDS);
    case 'bcrypt': {
      const cost = Number(hash.hash.slice(4, 6));
      return areInRange([cost, 4, 99])
        ? costProblem(cost <= (hash.digest === null ? MAX_BCRYPT_COST : MAX_WRAPPING_COST))
        : OUT_OF_RANGE;
    }
    case 'argon2': {
      const { memoryKib, passes, parallelism } = hash;
      if (!hasArgon2) return 'is of argon2, which needs Node 24.7 or later';
      const isValid = areInRange([parallelism, 1, 255], [memoryKib, 8 * parallelism, 2 ** 32], [passes, 1, 2 ** 32]);
      if (!isValid) return OUT_OF_RANGE;
      return (
        costProblem(memoryKib <= MAX_ARGON2_KIB && memoryKib * passes <= MAX_ARGON2_KIB_TIMES_PASSES) ??
        saltAndKeyProblem(hash)
      );
    }
    case 'scrypt': {
      const { n, r, p } = hash;
      const isValid = areInRange([n, 2, 2 ** 40], [r, 1, 2 ** 30], [p, 1, 2 ** 30]) && Number.isInteger(Math.log2(n));
      // RFC 7914 §2: N is smaller than 2^(128 * r / 8).
      if (!isValid || Math.log2(n) >= 16 * r) return OUT_OF_RANGE;
      return costProblem(n * r * p <= MAX_SCRYPT_WORK && r * (p + 2) <= MAX_SCRYPT_BLOCKS) ?? saltAndKeyProblem(hash);
    }
    case 'pbkdf2': {
      const { iterations, digest, key } = hash;
      if (!areInRange([iterations, 1, 2 ** 40])) return OUT_OF_RANGE;
      const blocks = Math.ceil(key.length / BLOCK_BYTES[digest]);
      return costProblem(iterations * blocks <= MAX_PBKDF2_ROUNDS) ?? saltAndKeyProblem(hash);
    }
    case 'sha-crypt':
      if (!areInRange([hash.rounds, 1_000, 2 ** 40])) return OUT_OF_RANGE;
      return costProblem(hash.rounds <= MAX_SHA_CRYPT_ROUNDS) ?? saltAndKeyProblem(hash);
  }
};

export const phpassRounds = (salt: Buffer): number => 2 ** CRYPT64.indexOf(salt.toString('latin1', 0, 1));

const costProblem = (isAffordable: boolean): string | null =>
  isAffordable ? null : 'takes more than a second or 128 MiB to compare';

const areInRange = (...ranges: (readonly [value: number, least: number, most: number])[]): boolean =>
  ranges.every(([value, least, most]) => value >= least && value <= most);

/** Checks the lengths of salt and key: a wrong password could match a short key by chance, and every password would match an empty key. */
const saltAndKeyProblem = ({ salt, key }: SaltAndKey): string | null => {
  if (!areInRange([salt.length, 8, 128])) return 'has a salt of fewer than 8 or more than 128 bytes';
  return areInRange([key.length, 16, 128]) ? null : 'has a digest of fewer than 16 or more than 128 bytes';
};
