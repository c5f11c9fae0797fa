import type { PasswordHasher } from '../../../application/ports/password-hasher.ts';
import { PASSWORD_MAX_BYTES } from '../../../domain/password.ts';
import { canonicalHash } from './canonical-hash.ts';
import { readHash } from './read-hash.ts';

/**
 * The form in which a hash of another system is stored until a log-in replaces it. A hash of bcrypt gets the prefix `bcrypt$`, which tells it from hashes
 * of this service: its password may have more than 72 bytes. A digest is wrapped in bcrypt, which hashes the first 72 of its hexadecimal digits.
 * @param imported the hash as the other system has written it
 */
export const storableHash = async (imported: string, { hash: wrap }: Pick<PasswordHasher, 'hash'>) => {
  const text = canonicalHash(imported);
  const hash = readHash(text);
  if ('problem' in hash) return hash;
  if (hash.scheme === 'digest') {
    const head = text.slice(0, text.lastIndexOf('$'));
    return { passwordHash: `${head}$${await wrap(hash.hex.slice(0, PASSWORD_MAX_BYTES.bcrypt))}` };
  }
  return { passwordHash: text.startsWith('$2') ? `bcrypt$${text}` : text };
};

/** Members of a Keycloak credential of the type `password`, from the JSON texts `secretData` and `credentialData`. */
export type KeycloakCredential = {
  /** The hash, in base64, as is `salt`. */
  readonly value: string;
  readonly salt: string;
  readonly algorithm: string;
  readonly hashIterations: number;
  /** Only of argon2. */
  readonly additionalParameters?: Partial<Record<'memory' | 'type' | 'version' | 'parallelism', readonly string[]>>;
};

/** Writes a Keycloak credential in the PHC string format. `readHash` refuses the result if it does not know the algorithm. */
export const keycloakHash = (credential: KeycloakCredential): string => {
  const { value, salt, algorithm, hashIterations, additionalParameters: parameters = {} } = credential;
  if (algorithm !== 'argon2') return `$${algorithm}$${hashIterations}$${salt}$${value}`;
  const version = parameters.version?.[0] === '1.3' ? 19 : 16;
  const cost = `m=${parameters.memory?.[0]},t=${hashIterations},p=${parameters.parallelism?.[0]}`;
  return `$argon2${parameters.type?.[0]}$v=${version}$${cost}$${salt}$${value}`;
};

/** A stored hash without the prefix `bcrypt$` of `storableHash`, as other systems know it. */
export const exportedHash = (stored: string): string => stored.replace(/^bcrypt\$(?=\$2)/, '');
