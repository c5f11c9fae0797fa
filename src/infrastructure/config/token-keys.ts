import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { KeyPair, TokenKeys } from '../../adapters/crypto/token-keys.ts';
import { type Texts, VARIABLES } from './variables.ts';

export const KEY_VARIABLES = {
  access: { privateKey: 'JWT_ACCESS_PRIVATE_KEY', publicKeys: 'JWT_ACCESS_PUBLIC_KEY' },
  refresh: { privateKey: 'JWT_REFRESH_PRIVATE_KEY', publicKeys: 'JWT_REFRESH_PUBLIC_KEY' },
} as const;
export const KEY_NAMES = Object.values(KEY_VARIABLES).flatMap(({ privateKey, publicKeys }) => [privateKey, publicKeys]);

type PairNames = (typeof KEY_VARIABLES)[keyof typeof KEY_VARIABLES];
type Problem = readonly [name: string, problem: string];

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;

/** The blocks of a PEM text, with real line breaks or the text `\n`. Empty if there is other text between the blocks. */
const pemBlocks = (text: string): { label: string; pem: string }[] => {
  const pem = text.replaceAll('\\r', '').replaceAll('\\n', '\n');
  if (pem.replaceAll(PEM_BLOCK, '').trim() !== '') return [];
  return [...pem.matchAll(PEM_BLOCK)].map(([block, label = '']) => ({ label, pem: block }));
};

const attempt = <T>(make: () => T): T | null => {
  try {
    return make();
  } catch {
    return null;
  }
};

const isP256 = (key: KeyObject): boolean =>
  key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1';

/** @returns `null` unless the text has exactly one private key. */
const readPrivateKey = (text: string): KeyObject | null => {
  const [block, ...more] = pemBlocks(text).filter(({ label }) => label !== 'EC PARAMETERS');
  if (block === undefined || more.length > 0) return null;
  return attempt(() => createPrivateKey(block.pem));
};

/** @returns `null` unless the text has public keys only, and at least one. */
const readPublicKeys = (text: string): KeyObject[] | null => {
  const blocks = pemBlocks(text);
  if (blocks.length === 0 || blocks.some(({ label }) => label !== 'PUBLIC KEY')) return null;
  return attempt(() => blocks.map(({ pem }) => createPublicKey(pem)));
};

const arePair = (privateKey: KeyObject, publicKey: KeyObject): boolean => {
  const probe = Buffer.from('one pair');
  return attempt(() => verify('sha256', probe, publicKey, sign('sha256', probe, privateKey))) === true;
};

/** @returns `null` unless the text has exactly one private key, on P-256. */
export const pairOf = (text: string): KeyPair | null => {
  const privateKey = readPrivateKey(text);
  return privateKey !== null && isP256(privateKey) ? { privateKey, publicKeys: [createPublicKey(privateKey)] } : null;
};

/** Whether the pairs share a key, so that one kind of token could be used as the other. */
export const shareKey = (a: KeyPair, b: KeyPair): boolean =>
  a.publicKeys.some((key) => b.publicKeys.some((other) => key.equals(other)));

const NOT_P256 = 'expected EC on the curve P-256';

const readPair = (texts: Texts, names: PairNames): { pair: KeyPair | null; problems: Problem[] } => {
  const privateKey = readPrivateKey(texts[names.privateKey] ?? '');
  const publicKeys = readPublicKeys(texts[names.publicKeys] ?? '');
  const problems: Problem[] = [];
  if (privateKey === null) problems.push([names.privateKey, `expected ${VARIABLES[names.privateKey].expected}`]);
  else if (!isP256(privateKey)) problems.push([names.privateKey, NOT_P256]);
  if (publicKeys === null) problems.push([names.publicKeys, `expected ${VARIABLES[names.publicKeys].expected}`]);
  else if (!publicKeys.every(isP256)) problems.push([names.publicKeys, NOT_P256]);
  const [current] = publicKeys ?? [];
  if (privateKey === null || publicKeys === null || current === undefined || problems.length > 0)
    return { pair: null, problems };
  if (arePair(privateKey, current)) return { pair: { privateKey, publicKeys }, problems };
  return {
    pair: null,
    problems: [[names.publicKeys, `expected its first key to be the public half of ${names.privateKey}`]],
  };
};

/**
 * Reads the key pairs of the environment (SPEC "Key configuration"): all four variables or, outside production, none.
 * @returns `keys` is `null` when there are no keys, or problems.
 */
export const readTokenKeys = (texts: Texts): { keys: TokenKeys | null; problems: readonly Problem[] } => {
  const missing = KEY_NAMES.filter((name) => texts[name] === undefined);
  const required = texts.NODE_ENV === 'production';
  if (missing.length === KEY_NAMES.length && !required) return { keys: null, problems: [] };
  const why = required ? 'required in production' : 'required when another JWT key is set: set all four or none';
  const access = readPair(texts, KEY_VARIABLES.access);
  const refresh = readPair(texts, KEY_VARIABLES.refresh);
  const problems: Problem[] = [
    ...missing.map((name): Problem => [name, why]),
    // `Problem` allows any name, but all of these are in KEY_NAMES.
    ...[...access.problems, ...refresh.problems].filter(
      ([name]) => texts[name as (typeof KEY_NAMES)[number]] !== undefined,
    ),
  ];
  if (access.pair === null || refresh.pair === null) return { keys: null, problems };
  if (!shareKey(access.pair, refresh.pair)) return { keys: { access: access.pair, refresh: refresh.pair }, problems };
  const shared = `must not share a key with ${KEY_VARIABLES.access.publicKeys}: each kind of token needs its own pair`;
  return { keys: null, problems: [[KEY_VARIABLES.refresh.publicKeys, shared]] };
};
