import type { PasswordHasher } from '../../../application/ports/password-hasher.ts';
import type { HashProblem } from './foreign-hash.ts';
import { readHash } from './read-hash.ts';

/**
 * The form in which a hash of another system is stored until its user logs in. One of bcrypt is marked as foreign: its user's password may have more
 * than 72 bytes. A digest is wrapped in bcrypt, so that it does not rest as it came.
 */
export const storableHash = async (
  text: string,
  { hash: wrap }: Pick<PasswordHasher, 'hash'>,
): Promise<{ readonly passwordHash: string } | HashProblem> => {
  const hash = readHash(text);
  if ('problem' in hash) return hash;
  if (hash.scheme === 'digest') {
    const head = text.slice(0, text.lastIndexOf('$'));
    return { passwordHash: `${head}$${await wrap(hash.hex)}` };
  }
  return { passwordHash: text.startsWith('$2') ? `bcrypt$${text}` : text };
};

/** Firebase's "password hash parameters". */
export type FirebaseConfig = {
  /** Base64, as the two texts of the user are. */
  readonly signerKey: string;
  readonly saltSeparator: string;
  readonly rounds: number;
  readonly memCost: number;
};

/**
 * A hash of Firebase's users. It is the project's signer key, encrypted by AES in counter mode, with a key that scrypt derives from the password.
 * Without the signer key the key stream is left, which is compared as well, so the signer key need not be stored.
 */
export const firebaseHash = (
  user: { readonly hash: string; readonly salt: string },
  config: FirebaseConfig,
): string => {
  const [hash, signerKey] = [Buffer.from(user.hash, 'base64'), Buffer.from(config.signerKey, 'base64')];
  // Another length would leave a part of the key stream unknown: an empty key is refused where the hash is read.
  const keyStream =
    hash.length === signerKey.length ? hash.map((byte, at) => byte ^ (signerKey[at] ?? 0)) : Buffer.alloc(0);
  const salt = Buffer.concat([Buffer.from(user.salt, 'base64'), Buffer.from(config.saltSeparator, 'base64')]);
  return `$firebase-scrypt$ln=${config.memCost},r=${config.rounds}$${salt.toString('base64')}$${Buffer.from(keyStream).toString('base64')}`;
};

/** Members of a Keycloak credential of the type `password`, from the JSON texts `secretData` and `credentialData`. */
export type KeycloakCredential = {
  /** Base64, both. */
  readonly value: string;
  readonly salt: string;
  readonly algorithm: string;
  readonly hashIterations: number;
  /** Of argon2. */
  readonly additionalParameters?: Partial<Record<'memory' | 'type' | 'version' | 'parallelism', readonly string[]>>;
};

/** A Keycloak credential in the PHC string format. An algorithm that is not known is refused where the hash is read. */
export const keycloakHash = (credential: KeycloakCredential): string => {
  const { value, salt, algorithm, hashIterations, additionalParameters: of = {} } = credential;
  if (algorithm !== 'argon2') return `$${algorithm}$${hashIterations}$${salt}$${value}`;
  const version = of.version?.[0] === '1.3' ? 19 : 16;
  const cost = `m=${of.memory?.[0]},t=${hashIterations},p=${of.parallelism?.[0]}`;
  return `$argon2${of.type?.[0]}$v=${version}$${cost}$${salt}$${value}`;
};

/** A stored hash without the mark that `storableHash` gives to those of bcrypt: each system marks what is foreign to it. */
export const exportedHash = (stored: string): string => stored.replace(/^bcrypt\$(?=\$2)/, '');
