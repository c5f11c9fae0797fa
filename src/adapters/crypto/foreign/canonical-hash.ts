import { crypt64 } from './foreign-hash.ts';

export type FirebaseConfig = {
  /** Base64, as are `saltSeparator`, and the hash and the salt of a user. */
  readonly signerKey: string;
  readonly saltSeparator: string;
  readonly rounds: number;
  readonly memCost: number;
};

/**
 * The hash of a user of Firebase in a form of ./read-hash.ts. Firebase's hash is the project's signer key, encrypted by AES in counter mode with a key
 * that scrypt derives from the password. XOR with the signer key gives the key stream of AES, which is stored: so the signer key is not needed later.
 */
export const firebaseHash = (user: { readonly hash: string; readonly salt: string }, config: FirebaseConfig) => {
  const [hash, signerKey] = [Buffer.from(user.hash, 'base64'), Buffer.from(config.signerKey, 'base64')];
  // If the lengths differ, a part of the key stream is unknown. Then the key is empty, and `readHash` refuses it.
  const keyStream =
    hash.length === signerKey.length ? hash.map((byte, at) => byte ^ (signerKey[at] ?? 0)) : Buffer.alloc(0);
  const salt = Buffer.concat([Buffer.from(user.salt, 'base64'), Buffer.from(config.saltSeparator, 'base64')]);
  return `$firebase-scrypt$ln=${config.memCost},r=${config.rounds}$${salt.toString('base64')}$${Buffer.from(keyStream).toString('base64')}`;
};

/** Characters. The longest known hash of another system, of passport-local-mongoose, has a key of 512 bytes in hexadecimal. */
export const MAX_HASH_LENGTH = 2048;
/** A longer key of PBKDF2 is cut to this length, since PBKDF2 derives shorter keys as the beginning of longer ones. */
const PBKDF2_KEY_BYTES = 32;

type Rewrite = (...fields: string[]) => string | null;

const base64 = (bytes: Buffer): string => bytes.toString('base64');
const hex = (text: string): Buffer => Buffer.from(text, 'hex');

const pbkdf2 = (digest: string, iterations: number | string, salt: Buffer, key: Buffer): string =>
  `$pbkdf2-${digest}$${iterations}$${base64(salt)}$${base64(key.subarray(0, PBKDF2_KEY_BYTES))}`;

/** @param bytes a salt, and a key of 32 bytes behind it */
const pbkdf2FromBytes = (digest: string, iterations: number, saltBytes: number, bytes: Buffer): string | null =>
  bytes.length === saltBytes + 32
    ? pbkdf2(digest, iterations, bytes.subarray(0, saltBytes), bytes.subarray(saltBytes))
    : null;

/** Base64, whose first byte is 0 for version 2 and 1 for version 3. In version 3, digest, iterations and length of the salt follow, of four bytes each. */
const fromAspNet: Rewrite = (text = '') => {
  const bytes = Buffer.from(text, 'base64');
  if (bytes[0] === 0) return pbkdf2FromBytes('sha1', 1_000, 16, bytes.subarray(1));
  const [digest, saltBytes] = [['sha1', 'sha256', 'sha512'][bytes.readUInt32BE(1)], bytes.readUInt32BE(9)];
  if (digest === undefined || bytes.length < 13 + saltBytes + 16) return null;
  return pbkdf2(digest, bytes.readUInt32BE(5), bytes.subarray(13, 13 + saltBytes), bytes.subarray(13 + saltBytes));
};

/** `params` is a hexadecimal number: the binary logarithm of N, then r and p, of a byte each. */
const fromSpring: Rewrite = (params = '', salt, key) => {
  const number = Number.parseInt(params, 16);
  return `$scrypt$ln=${number >> 16},r=${(number >> 8) & 255},p=${number & 255}$${salt}$${key}`;
};

/** Base64 of the digest and the salt. LDAP hashes the password followed by the salt. */
const fromLdap: Rewrite = (name = '', text = '') => {
  const bytes = Buffer.from(text, 'base64');
  const [algorithm, length] = LDAP[name.toUpperCase()] ?? ['', Number.NaN];
  if (!(bytes.length >= length)) return null;
  return `${algorithm}-suffix64$${base64(bytes.subarray(length))}$${bytes.subarray(0, length).toString('hex')}`;
};
const LDAP: Partial<Record<string, readonly [algorithm: string, bytes: number]>> = {
  SHA: ['sha1', 20],
  SSHA: ['sha1', 20],
  SSHA256: ['sha256', 32],
  SSHA512: ['sha512', 64],
};

const fromSupabase: Rewrite = (ln, r, saltSeparator = '', signerKey = '', salt = '', hash = '') =>
  firebaseHash({ hash, salt }, { signerKey, saltSeparator, rounds: Number(r), memCost: Number(ln) });

/** Forms in which other systems write hashes of the schemes that ./read-hash.ts knows. A rewrite gets the groups of its pattern. */
const FORMS: readonly (readonly [pattern: RegExp, rewrite: Rewrite])[] = [
  // Spring Security, DelegatingPasswordEncoder.
  [/^\{bcrypt\}(\$2[aby]\$.+)$/, (hash = '') => hash],
  [/^\{argon2(?:@SpringSecurity_v5_[28])?\}(\$argon2.+)$/, (hash = '') => hash],
  [/^\{pbkdf2\}([0-9a-f]{80})$/, (text = '') => pbkdf2FromBytes('sha1', 185_000, 8, hex(text))],
  [/^\{pbkdf2@SpringSecurity_v5_8\}([0-9a-f]{96})$/, (text = '') => pbkdf2FromBytes('sha256', 310_000, 16, hex(text))],
  [
    /^\{scrypt(?:@SpringSecurity_v5_8)?\}\$([0-9a-f]{5,6})\$([A-Za-z0-9+/]+={0,2})\$([A-Za-z0-9+/]+={0,2})$/,
    fromSpring,
  ],
  // ASP.NET Core Identity, and ASP.NET Identity before it.
  [/^(AQAAAA[A-P][A-Za-z0-9+/]{40,300}={0,2}|A[A-P][A-Za-z0-9+/]{64}==)$/, fromAspNet],
  // Werkzeug (Flask).
  [
    /^pbkdf2:(sha1|sha256|sha512):(\d{1,10})\$([^$]+)\$([0-9a-f]+)$/,
    (digest = '', iterations = '', salt = '', key = '') => pbkdf2(digest, iterations, Buffer.from(salt), hex(key)),
  ],
  [
    /^scrypt:(\d{1,10}):(\d{1,10}):(\d{1,10})\$([^$]+)\$([0-9a-f]+)$/,
    (n, r, p, salt = '', key = '') => `scrypt$${n}$${salt}$${r}$${p}$${base64(hex(key))}`,
  ],
  // Jira, Confluence and Crowd.
  [/^\{PKCS5S2\}([A-Za-z0-9+/]{64})$/, (text = '') => pbkdf2FromBytes('sha1', 10_000, 16, Buffer.from(text, 'base64'))],
  // Users of Firebase in Supabase.
  [/^\$fbscrypt\$v=1,n=(\d{1,2}),r=(\d{1,2}),p=1(?:,ss=([^,$]+))?,sk=([^,$]+)\$([^$]+)\$([^$]+)$/, fromSupabase],
  // WordPress from version 6.8 on; earlier versions of WordPress, and phpBB.
  [/^\$wp(\$2[aby]\$.+)$/, (hash) => `wordpress$${hash}`],
  [
    /^\$[PH]\$([./0-9A-Za-z]{9})([./0-9A-Za-z]{22})$/,
    (salt, key = '') => `phpass$${salt}$${crypt64(key).toString('hex')}`,
  ],
  // LDAP and Dovecot.
  [/^\{(?:crypt|sha256-crypt|sha512-crypt)\}(\$[256].?\$.+)$/i, (hash = '') => hash],
  [/^\{(SHA|SSHA|SSHA256|SSHA512)\}([A-Za-z0-9+/]+={0,2})$/i, fromLdap],
];

/** Rewrites a hash of another system into a form of ./read-hash.ts. Returns any other text unchanged: it already has such a form, or `readHash` refuses it. */
export const canonicalHash = (text: string): string => {
  if (text.length > MAX_HASH_LENGTH) return text;
  for (const [pattern, rewrite] of FORMS) {
    const [, ...fields] = pattern.exec(text) ?? [];
    if (fields.length > 0) return rewrite(...fields) ?? text;
  }
  return text;
};
