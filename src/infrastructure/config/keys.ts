import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import * as v from 'valibot';
import type { OperatorKey } from '../../adapters/crypto/assertions.ts';
import type { KeyPair } from '../../adapters/crypto/token-keys.ts';
import type { PageServer } from '../../adapters/http/request/settings.ts';
import { isProgramName, SCOPES } from '../../domain/operator.ts';
import { formatOf, itemsOf, json } from './formats.ts';

export type SecretKeys = readonly [Buffer, ...Buffer[]];

/** Decodes 32 bytes in base64url. @returns `null` for any other text, also for a second way to write the same bytes */
export const decode32Bytes = (text: string): Buffer | null => {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length === 32 && bytes.toString('base64url') === text ? bytes : null;
};

export const secretKeys = (limit: number) =>
  formatOf<SecretKeys>(
    `1 to ${limit} different keys, separated by commas, each of 32 bytes in base64url (43 characters)`,
    (text) => {
      const items = itemsOf(text);
      const [first, ...others] = items.map(decode32Bytes).filter((key) => key !== null);
      const count = others.length + 1;
      if (first === undefined || count < items.length || count > limit || new Set(items).size < count) return undefined;
      return [first, ...others];
    },
  );

/** Several entries may have the same id, so that a server has an old and a new secret while the secret is replaced. */
export const pageServers = (limit: number) =>
  formatOf<readonly PageServer[]>(
    `1 to ${limit} of id:hash, separated by commas, each hash the SHA-256 of a secret in base64url (43 characters)`,
    (text) => {
      const servers = itemsOf(text).flatMap((item) => {
        const [, id = '', hash = ''] = /^([\w.-]{1,64}):([\w-]+)$/.exec(item) ?? [];
        const secretHash = decode32Bytes(hash);
        return secretHash === null ? [] : [{ id, secretHash }];
      });
      return servers.length === itemsOf(text).length && servers.length <= limit ? servers : undefined;
    },
  );

export const KEY_VARIABLES = {
  access: { privateKey: 'JWT_ACCESS_PRIVATE_KEY', publicKeys: 'JWT_ACCESS_PUBLIC_KEY' },
  refresh: { privateKey: 'JWT_REFRESH_PRIVATE_KEY', publicKeys: 'JWT_REFRESH_PUBLIC_KEY' },
} as const;

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;

/** The blocks of a PEM text, whose line breaks may be the two characters `\n`. @returns no block if there is other text beside them */
const pemBlocks = (text: string): { label: string; pem: string }[] => {
  const pem = text.replaceAll('\\r', '').replaceAll('\\n', '\n');
  if (pem.replaceAll(PEM_BLOCK, '').trim() !== '') return [];
  return [...pem.matchAll(PEM_BLOCK)].map(([block, label = '']) => ({ label, pem: block }));
};

const isP256 = (key: KeyObject): boolean => key.asymmetricKeyDetails?.namedCurve === 'prime256v1';

/** @returns the keys that `make` reads; `undefined` if that fails, or `isFit` refuses one of them */
const keysIfFit = (make: () => KeyObject[], isFit = isP256): KeyObject[] | undefined => {
  try {
    const keys = make();
    return keys.every(isFit) ? keys : undefined;
  } catch {
    return undefined;
  }
};

export const privateKey = formatOf('one private key in PEM (PKCS#8 or SEC1), EC on the curve P-256', (text) => {
  const [block, ...more] = pemBlocks(text).filter(({ label }) => label !== 'EC PARAMETERS');
  return block && more.length === 0 ? keysIfFit(() => [createPrivateKey(block.pem)])?.[0] : undefined;
});

const publicKeysOf = (text: string, isFit?: (key: KeyObject) => boolean): KeyObject[] | undefined => {
  const blocks = pemBlocks(text);
  const arePublic = blocks.length > 0 && blocks.every(({ label }) => label === 'PUBLIC KEY');
  return arePublic ? keysIfFit(() => blocks.map(({ pem }) => createPublicKey(pem)), isFit) : undefined;
};

export const publicKeys = formatOf('one or more public keys in PEM (SPKI), EC on the curve P-256', (text) =>
  publicKeysOf(text),
);

/** Few, since verifying an assertion may try each key. */
const MAX_ADOPTION_KEYS = 5;

export const adoptionKeys = formatOf('1 to 5 public keys in PEM (SPKI), EC on the curve P-256 or Ed25519', (text) => {
  const keys = publicKeysOf(text, (key) => isP256(key) || key.asymmetricKeyType === 'ed25519') ?? [];
  return keys.length > 0 && keys.length <= MAX_ADOPTION_KEYS ? keys : undefined;
});

/** The most programs that may use the back office. More are probably a mistake. */
const MAX_OPERATOR_KEYS = 50;

const Operator = v.strictObject({
  name: v.pipe(v.string(), v.check(isProgramName)),
  scopes: v.pipe(v.array(v.picklist(SCOPES)), v.minLength(1), v.maxLength(SCOPES.length)),
  publicKey: v.pipe(
    v.string(),
    v.transform((text) => publicKeysOf(text) ?? []),
    v.length(1),
  ),
});

export const operatorKeys = json<readonly OperatorKey[]>(
  `JSON such as [{"name":"support","scopes":["users:read"],"publicKey":"-----BEGIN PUBLIC KEY-----…"}]: 1 to ${MAX_OPERATOR_KEYS} different names with different public keys in PEM (SPKI), EC on the curve P-256, and scopes out of ${SCOPES.join(' and ')}`,
  v.pipe(
    v.array(Operator),
    v.minLength(1),
    v.maxLength(MAX_OPERATOR_KEYS),
    v.transform((all) =>
      all.flatMap(({ publicKey, ...program }) => publicKey.map((key) => ({ ...program, publicKey: key }))),
    ),
    v.check((keys) =>
      keys.every(
        (key, at) =>
          !keys.slice(0, at).some(({ name, publicKey }) => name === key.name || publicKey.equals(key.publicKey)),
      ),
    ),
  ),
);

/** Reads an Ed25519 private key in PEM. The text may go on: the service's own file also has the public key. @returns `null` if there is none */
export const hookKeyOf = (text: string): KeyObject | null => {
  try {
    const key = createPrivateKey(text.replaceAll('\\n', '\n'));
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
};

export const hookKey = formatOf('one private key in PEM (PKCS#8), Ed25519', (text) => hookKeyOf(text) ?? undefined);

/** The key pair of a private key in PEM. @returns `null` if the text is not exactly one private key on P-256 */
export const pairOf = (text: string): KeyPair | null => {
  const key = privateKey.parse(text);
  return key === undefined ? null : { privateKey: key, publicKeys: [createPublicKey(key)] };
};

/** Whether the first public key belongs to the private key. */
export const isPair = ({ privateKey: own, publicKeys: [current] }: KeyPair): boolean => {
  const probe = Buffer.from('one pair');
  return current !== undefined && verify('sha256', probe, current, sign('sha256', probe, own));
};

/** Whether two pairs have a key in common, so that a token of one kind could be accepted as one of the other kind. */
export const shareKey = (a: KeyPair, b: KeyPair): boolean =>
  a.publicKeys.some((key) => b.publicKeys.some((other) => key.equals(other)));
