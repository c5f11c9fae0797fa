import { generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomSecrets } from '../adapters/crypto/secrets.ts';
import type { KeyPair, TokenKeys } from '../adapters/crypto/token-keys.ts';
import { publicHookKey } from '../adapters/hooks/signing.ts';
import { systemReason } from '../adapters/log/redact-error.ts';
import { hookKeyOf, pairOf, secretKey, shareKey } from './config/keys.ts';
import type { Config } from './config.ts';
import { keepPrivate } from './private-data.ts';

/** The files of the private keys, below DATA_DIR. */
export const KEY_FILES = { access: join('keys', 'access.pem'), refresh: join('keys', 'refresh.pem') } as const;
/** The file of the key that encrypts the secrets of factors, as a line of base64url. */
export const FACTOR_KEY_FILE = join('keys', 'factors.key');
/** The file of the key that signs calls of hooks: the private one, and a line with the public one for who receives them. */
export const HOOK_KEY_FILE = join('keys', 'hooks.pem');
export const ALL_KEY_FILES: readonly string[] = [...Object.values(KEY_FILES), FACTOR_KEY_FILE, HOOK_KEY_FILE];

/** Whether a text is what the service needs in this one of its files. */
export const isKeyOfFile = (file: string, text: string): boolean => {
  if (file === FACTOR_KEY_FILE) return factorKeyOf(text) !== null;
  return (file === HOOK_KEY_FILE ? hookKeyOf(text) : pairOf(text)) !== null;
};

/**
 * The key pairs for development and tests, created once in `dataDir` and readable by their owner only. Processes that start at
 * the same time use the same pairs.
 * @throws Error that names DATA_DIR, the file in it and the system's reason.
 */
export const loadOrCreateKeys = async (dataDir: string): Promise<TokenKeys> => {
  keepKeysPrivate(dataDir);
  const access = await loadOrCreatePair(dataDir, KEY_FILES.access);
  const refresh = await loadOrCreatePair(dataDir, KEY_FILES.refresh);
  if (shareKey(access, refresh)) throw unusable(`${KEY_FILES.refresh} has the same key as ${KEY_FILES.access}`);
  return { access, refresh };
};

/**
 * The keys that encrypt the secrets of factors. Outside production, without one in the environment, it is made as the key pairs are.
 * @throws Error as `loadOrCreateKeys`
 */
export const openFactorKeys = async ({
  factorKeys,
  environment,
  dataDir,
}: Pick<Config, 'factorKeys' | 'environment' | 'dataDir'>): Promise<Config['factorKeys']> =>
  factorKeys === null && environment !== 'production' ? [await loadOrCreateFactorKey(dataDir)] : factorKeys;

/** @throws Error as `loadOrCreateKeys` */
export const loadOrCreateFactorKey = async (dataDir: string): Promise<Buffer> => {
  keepKeysPrivate(dataDir);
  const key = factorKeyOf(await readOrCreate(dataDir, FACTOR_KEY_FILE, () => `${newFactorKey()}\n`));
  if (key === null)
    throw unusable(`${FACTOR_KEY_FILE} is not a key of 32 bytes in base64url. Restore it from a backup`);
  return key;
};

type HookKeySettings = Pick<Config, 'hookPrivateKey' | 'dataDir'>;

/**
 * The key that signs calls of hooks: that of the environment, or in any environment one that is made as the key pairs are.
 * @throws Error as `loadOrCreateKeys`
 */
export const loadOrCreateHookKey = async ({ hookPrivateKey, dataDir }: HookKeySettings): Promise<KeyObject> => {
  if (hookPrivateKey !== null) return hookPrivateKey;
  keepKeysPrivate(dataDir);
  const key = hookKeyOf(await readOrCreate(dataDir, HOOK_KEY_FILE, () => hookKeyText(newHookKey())));
  if (key === null) throw unusable(`${HOOK_KEY_FILE} is not an Ed25519 private key. Remove it to create a new one`);
  return key;
};

/** The key of `loadOrCreateHookKey`, if there is one. */
export const existingHookKey = async ({ hookPrivateKey, dataDir }: HookKeySettings): Promise<KeyObject | null> =>
  hookPrivateKey ?? hookKeyOf((await readIfAny(join(dataDir, HOOK_KEY_FILE))) ?? '');

/** @returns `null` unless the text is a key for the secrets of factors, in base64url. */
export const factorKeyOf = (text: string): Buffer | null => secretKey(text.trimEnd());

const keepKeysPrivate = (dataDir: string): void => {
  try {
    keepPrivate(dataDir, 'keys');
  } catch (error) {
    throw unusable(systemReason(error));
  }
};

const loadOrCreatePair = async (dataDir: string, file: string): Promise<KeyPair> => {
  const pem = await readOrCreate(dataDir, file, () => privatePem(newPair().privateKey));
  const pair = pairOf(pem);
  if (pair === null) throw unusable(`${file} is not a private key on P-256. Remove it to create a new one`);
  return pair;
};

const unusable = (problem: string): Error => new Error(`The keys in DATA_DIR cannot be used: ${problem}`);

const readOrCreate = async (dataDir: string, file: string, make: () => string): Promise<string> => {
  const path = join(dataDir, file);
  try {
    const text = await readIfAny(path);
    if (text !== null) return text;
    await createOnce(path, make());
    return await readFile(path, 'utf8');
  } catch (error) {
    throw unusable(`${file}: ${systemReason(error)}`);
  }
};

/** @returns `null` without the file. */
export const readIfAny = (path: string): Promise<string | null> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });

/** Writes a file, unless it exists: a draft, which is linked, since that is atomic and replaces nothing. */
export const createOnce = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomSecrets.random()}.tmp`;
  try {
    await writeFile(draft, text, { flag: 'wx', mode: 0o600, flush: true });
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
};

export const newPair = (): KeyPair => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, publicKeys: [publicKey] };
};

export const newHookKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey;

const hookKeyText = (key: KeyObject): string => `${privatePem(key)}${publicHookKey(key)}\n`;

export const newFactorKey = randomSecrets.random;

/** A secret of 256 random bits, and its SHA-256, for a server that renders pages. */
export const newPageServer = () => {
  const { random, hashOf } = randomSecrets;
  const secret = random();
  return { id: `pages-${hash('sha256', random()).slice(0, 8)}`, secret, secretHash: hashOf(secret) };
};

/** PKCS#8 (RFC 5958). */
export const privatePem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** SubjectPublicKeyInfo (RFC 5280 §4.1), one block for each key. */
export const publicPem = (keys: readonly KeyObject[]): string =>
  keys.map((key) => key.export({ type: 'spki', format: 'pem' }).toString()).join('');
