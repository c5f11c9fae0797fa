import crypto from 'node:crypto';
import { randomSecrets } from './secrets.ts';

/** Whether this version of Node.js has argon2: 24.7 and later have it. */
export const hasArgon2 = crypto.argon2Sync !== undefined;

/** OWASP's Password Storage Cheat Sheet: 19 MiB (`memory` is in KiB) and two passes. */
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const;
const HASH_PREFIX = `$argon2id$v=19$m=${PARAMETERS.memory},t=${PARAMETERS.passes},p=${PARAMETERS.parallelism}$`;
const SALT_BYTES = 16;

const base64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');

/** A hash in the PHC string format. Blocks the thread. */
export const argon2idHash = (password: string): string => {
  const nonce = Buffer.from(randomSecrets.random(), 'base64url').subarray(0, SALT_BYTES);
  const key = crypto.argon2Sync('argon2id', { ...PARAMETERS, message: password, nonce });
  return `${HASH_PREFIX}${base64(nonce)}$${base64(key)}`;
};

/** A well-formed hash of no known password. */
export const ARGON2ID_DUMMY = `${HASH_PREFIX}${base64(Buffer.alloc(SALT_BYTES))}$${base64(Buffer.alloc(PARAMETERS.tagLength))}`;

/** Whether a hash has the parameters of `argon2idHash`. An imported hash may have them as well. */
export const isOwnArgon2id = (hash: string): boolean => hash.startsWith(HASH_PREFIX);
