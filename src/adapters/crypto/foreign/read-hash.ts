import { crypt64, type ForeignHash, type HashProblem, limitProblem } from './foreign-hash.ts';

const MAX_LENGTH = 512;

/**
 * Reads a password hash of another system, in a form of bcrypt, the PHC string format (argon2, scrypt, pbkdf2), passlib, Django, better-auth, `$5$` or
 * `$6$` of crypt(3), or a form that ./canonical-hash.ts or ./storable-hash.ts writes. A digest is `md5$SALT$HEX`; `md5-suffix$SALT$HEX` if the salt
 * stands behind the password; `md5-suffix64$SALT$HEX` with such a salt in base64. sha1, sha256 and sha512 have the same three forms.
 * @returns the parameters, or why the hash is refused. Never throws.
 */
export const readHash = (text: string): ForeignHash | HashProblem => {
  if (text.length > MAX_LENGTH) return { problem: `is longer than ${MAX_LENGTH} characters` };
  for (const { pattern, read } of FORMS) {
    const fields = pattern.exec(text)?.groups;
    if (fields === undefined) continue;
    const hash = read(fields);
    const problem = 'problem' in hash ? hash.problem : limitProblem(hash);
    return problem === null ? hash : { problem };
  }
  const scheme = SCHEME.exec(text)?.[0];
  return { problem: `has none of the known forms${scheme === undefined ? '' : `; its scheme is ${scheme}`}` };
};

/** The name of a scheme, such as `$6$`, `{SSHA}` or `sha512$`, for the message. The pattern is narrow, so that the message quotes no salt. */
const SCHEME = /^(?:\$[\w-]{1,16}\$|\{[\w-]{1,24}\}|[\w-]{0,12}(?:sha|md5|crypt|pbkdf)[\w-]{0,12}[$:])/i;

type Fields = Partial<Record<string, string>>;
type Form = { readonly pattern: RegExp; readonly read: (fields: Fields) => ForeignHash | HashProblem };

/** Base64, in which passlib writes `.` for `+`, and most systems leave out the padding. */
const SALT = '(?<salt>[A-Za-z0-9+/.]+={0,2})';
const KEY = '(?<key>[A-Za-z0-9+/.]+={0,2})';
const BCRYPT = String.raw`\$2[aby]\$(?<rest>\d\d\$[./A-Za-z0-9]{53})`;
const DIGEST = String.raw`(?<algorithm>md5|sha1|sha256|sha512|phpass)(?<suffix>-suffix(?:64)?)?\$(?<salt>[^$]{0,64})`;

const decode = (base64 = ''): Buffer => Buffer.from(base64.replaceAll('.', '+'), 'base64');

/** Reads parameters such as `m=65536,t=3,p=4` in any order. All are NaN if there are too few or too many; one is NaN if it is not one to ten digits. */
const numbersIn = <Name extends string>(text = '', ...names: Name[]): Record<Name, number> => {
  const matches = text.split(',').map((part) => /^([a-z]+)=(\d{1,10})$/.exec(part));
  const isComplete = matches.length === names.length;
  const valueFor = (name: Name) =>
    Number((isComplete ? matches.find((match) => match?.[1] === name)?.[2] : null) ?? 'NaN');
  return Object.fromEntries(names.map((name) => [name, valueFor(name)])) as Record<Name, number>;
};

const digestOf = ({ algorithm = '', suffix, salt = '' }: Fields) => ({
  algorithm,
  salt: Buffer.from(salt, suffix === '-suffix64' ? 'base64' : 'utf8'),
  saltPlace: suffix === undefined ? ('prefix' as const) : ('suffix' as const),
});

const DIGEST_BYTES: Partial<Record<string, number>> = { md5: 16, sha1: 20, sha256: 32, sha512: 64, phpass: 16 };

const FORMS: readonly Form[] = [
  {
    pattern: new RegExp(String.raw`^(?:bcrypt\$|(?<named>bcrypt_sha256|wordpress)\$|${DIGEST}\$)?${BCRYPT}$`),
    read: ({ rest = '', named, ...fields }) => {
      const digest = named === undefined ? fields : { algorithm: named.replace('bcrypt_', '') };
      return {
        scheme: 'bcrypt',
        hash: `$2b$${rest}`,
        digest: digest.algorithm === undefined ? null : digestOf(digest),
      };
    },
  },
  {
    pattern: new RegExp(String.raw`^${DIGEST}\$(?<hex>[0-9a-fA-F]+)$`),
    read: ({ hex = '', ...fields }) => {
      const digest = digestOf(fields);
      if (hex.length / 2 !== DIGEST_BYTES[digest.algorithm]) return { problem: 'has a digest of the wrong length' };
      return { scheme: 'digest', ...digest, hex: hex.toLowerCase() };
    },
  },
  {
    pattern: new RegExp(
      String.raw`^(?:argon2)?\$(?<variant>argon2(?:id|i|d))\$(?:v=(?<version>\d{1,3})\$)?(?<cost>[^$]+)\$${SALT}\$${KEY}$`,
    ),
    read: ({ variant, version, cost, salt, key }) => {
      if (version === undefined)
        return { problem: 'is of argon2 1.0, as it names no version (v=): 1.3 alone is known' };
      if (version !== '19') return { problem: 'is of a version of argon2 other than 1.3 (v=19)' };
      const { m, t, p } = numbersIn(cost, 'm', 't', 'p');
      return {
        ...{ scheme: 'argon2', variant: variant as 'argon2id', memoryKib: m, passes: t, parallelism: p },
        ...{ salt: decode(salt), key: decode(key) },
      };
    },
  },
  {
    pattern: new RegExp(String.raw`^\$scrypt\$(?<cost>[^$]+)\$${SALT}\$${KEY}$`),
    read: ({ cost, salt, key }) => {
      const { ln, r, p } = numbersIn(cost, 'ln', 'r', 'p');
      return { scheme: 'scrypt', variant: 'plain', n: 2 ** ln, r, p, salt: decode(salt), key: decode(key) };
    },
  },
  {
    pattern: new RegExp(String.raw`^scrypt\$(?<n>\d{1,10})\$(?<salt>[^$]+)\$(?<r>\d{1,10})\$(?<p>\d{1,10})\$${KEY}$`),
    read: ({ n, r, p, salt = '', key }) => ({
      ...{ scheme: 'scrypt', variant: 'plain', n: Number(n), r: Number(r), p: Number(p) },
      ...{ salt: Buffer.from(salt), key: decode(key) },
    }),
  },
  {
    pattern: new RegExp(String.raw`^\$firebase-scrypt\$(?<cost>[^$]+)\$${SALT}\$${KEY}$`),
    read: ({ cost, salt, key }) => {
      const { ln, r } = numbersIn(cost, 'ln', 'r');
      return { scheme: 'scrypt', variant: 'firebase', n: 2 ** ln, r, p: 1, salt: decode(salt), key: decode(key) };
    },
  },
  {
    pattern: /^(?<salt>[0-9a-f]{32}):(?<key>[0-9a-f]{128})$/,
    read: ({ salt = '', key = '' }) => ({
      ...{ scheme: 'scrypt', variant: 'better-auth', n: 2 ** 14, r: 16, p: 1 },
      ...{ salt: Buffer.from(salt), key: Buffer.from(key, 'hex') },
    }),
  },
  {
    pattern: new RegExp(
      String.raw`^\$pbkdf2(?:-(?<digest>sha1|sha256|sha512))?\$(?:i=)?(?<iterations>\d{1,10})(?:,l=\d{1,3})?\$${SALT}\$${KEY}$`,
    ),
    read: ({ digest = 'sha1', iterations, salt, key }) => ({
      ...{ scheme: 'pbkdf2', digest: digest as 'sha1', iterations: Number(iterations) },
      ...{ salt: decode(salt), key: decode(key) },
    }),
  },
  {
    pattern: new RegExp(String.raw`^pbkdf2_(?<digest>sha1|sha256)\$(?<iterations>\d{1,10})\$(?<salt>[^$]+)\$${KEY}$`),
    read: ({ digest, iterations, salt = '', key }) => ({
      ...{ scheme: 'pbkdf2', digest: digest as 'sha1', iterations: Number(iterations) },
      ...{ salt: Buffer.from(salt), key: decode(key) },
    }),
  },
  {
    pattern:
      /^\$(?:5|(?<is512>6))\$(?:rounds=(?<rounds>\d{1,10})\$)?(?<salt>[./0-9A-Za-z]{1,16})\$(?<key>[./0-9A-Za-z]{43}(?:[./0-9A-Za-z]{43})?)$/,
    read: ({ is512, rounds = '5000', salt = '', key = '' }) => {
      const digest = is512 === undefined ? 'sha256' : 'sha512';
      const bytes = crypt64(key);
      if (bytes.length !== DIGEST_BYTES[digest]) return { problem: 'has a digest of the wrong length' };
      return { scheme: 'sha-crypt', digest, rounds: Number(rounds), salt: Buffer.from(salt), key: bytes };
    },
  },
];
