import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomSecrets } from '../adapters/crypto/secrets.ts';
import type { KeyPair, TokenKeys } from '../adapters/crypto/token-keys.ts';
import { publicHookKey } from '../adapters/hooks/signing.ts';
import { systemReason } from '../adapters/log/redact-error.ts';
import { decode32Bytes, hookKeyOf, pairOf, shareKey } from './config/keys.ts';
import type { Config } from './config.ts';
import { restrictDirectory } from './private-data.ts';

export type KeyFile<Key> = {
  /** The path of the file below DATA_DIR. */
  readonly file: string;
  /** Reads the key in a text. @returns `null` if there is none */
  readonly parse: (text: string) => Key | null;
  readonly make: () => string;
  /** The content, as the end of the sentence "FILE is not …". */
  readonly description: string;
  readonly advice: string;
};

const PAIR_FILE: Omit<KeyFile<KeyPair>, 'file'> = {
  parse: pairOf,
  make: () => privatePem(newPair().privateKey),
  description: 'a private key on P-256',
  advice:
    'Restore it from a backup, or remove it: the next start makes a new one, and tokens of the old one are no longer accepted.',
};

export const KEY_FILES = {
  access: { ...PAIR_FILE, file: join('keys', 'access.pem') },
  refresh: { ...PAIR_FILE, file: join('keys', 'refresh.pem') },
  factors: {
    file: join('keys', 'factors.key'),
    parse: (text: string) => decode32Bytes(text.trimEnd()),
    make: () => `${newFactorKey()}\n`,
    description: 'a key of 32 bytes in base64url',
    advice:
      'Restore it from a backup. If you remove it, the next start makes a new one, and the authenticator apps of all users are lost.',
  },
  hooks: {
    file: join('keys', 'hooks.pem'),
    parse: hookKeyOf,
    // The public key follows the private one, so that people can copy it.
    make: () => {
      const key = newHookKey();
      return `${privatePem(key)}${publicHookKey(key)}\n`;
    },
    description: 'an Ed25519 private key',
    advice: 'Remove it to create a new one.',
  },
};
export const ALL_KEY_FILES: readonly KeyFile<unknown>[] = Object.values(KEY_FILES);

/**
 * The key pairs in `dataDir`, for development and tests. Missing ones are created, readable only by their owner. Processes that start at the same time
 * use the same pairs.
 * @throws Error that names DATA_DIR, and what in it cannot be used
 */
export const loadOrCreateKeys = async (dataDir: string): Promise<TokenKeys> => {
  const access = await loadOrCreate(dataDir, KEY_FILES.access);
  const refresh = await loadOrCreate(dataDir, KEY_FILES.refresh);
  if (shareKey(access, refresh))
    throw unusableKeys(`${KEY_FILES.refresh.file} has the same key as ${KEY_FILES.access.file}`);
  return { access, refresh };
};

type FactorKeySettings = Pick<Config, 'factorKeys' | 'nodeEnv' | 'dataDir'>;

/** FACTOR_KEYS; without them, in production `null`, else a key in `dataDir`, which is created if it is missing. @throws Error as `loadOrCreateKeys` */
export const openFactorKeys = async ({ factorKeys, nodeEnv, dataDir }: FactorKeySettings) =>
  factorKeys === null && nodeEnv !== 'production'
    ? ([await loadOrCreate(dataDir, KEY_FILES.factors)] as const)
    : factorKeys;

type HookKeySettings = Pick<Config, 'hookPrivateKey' | 'dataDir'>;

/** HOOK_PRIVATE_KEY; without it, in production too, a key in `dataDir`, which is created if it is missing. @throws Error as `loadOrCreateKeys` */
export const loadOrCreateHookKey = async ({ hookPrivateKey, dataDir }: HookKeySettings): Promise<KeyObject> =>
  hookPrivateKey ?? (await loadOrCreate(dataDir, KEY_FILES.hooks));

export const existingHookKey = async ({ hookPrivateKey, dataDir }: HookKeySettings): Promise<KeyObject | null> =>
  hookPrivateKey ?? hookKeyOf((await readIfAny(join(dataDir, KEY_FILES.hooks.file))) ?? '');

const unusableKeys = (problem: string): Error => new Error(`The keys in DATA_DIR cannot be used: ${problem}`);

const loadOrCreate = async <Key>(dataDir: string, { file, parse, make, description, advice }: KeyFile<Key>) => {
  try {
    restrictDirectory(dataDir, 'keys');
  } catch (error) {
    throw unusableKeys(systemReason(error));
  }
  const key = parse(
    await readOrCreate(join(dataDir, file), make).catch((error) => {
      throw unusableKeys(`${file}: ${systemReason(error)}`);
    }),
  );
  if (key === null) throw unusableKeys(`${file} is not ${description}. ${advice}`);
  return key;
};

const readOrCreate = async (path: string, make: () => string): Promise<string> => {
  const text = await readIfAny(path);
  if (text !== null) return text;
  await createOnce(path, make());
  return await readFile(path, 'utf8');
};

export const readIfAny = (path: string): Promise<string | null> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });

/** Writes a file unless it exists: writes a draft, and links it to the path, which is atomic and never replaces a file. */
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

export const newFactorKey = randomSecrets.random;

/** The id of a server that renders pages, a secret of 256 random bits, and the SHA-256 of the secret. */
export const newPageServer = () => {
  const { random, hashOf } = randomSecrets;
  const secret = random();
  return { id: `pages-${random().slice(0, 8)}`, secret, secretHash: hashOf(secret) };
};

/** Writes a private key in PEM, as PKCS #8 (RFC 5958). */
export const privatePem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Writes public keys in PEM, each as a block of SubjectPublicKeyInfo (RFC 5280 §4.1). */
export const publicPem = (keys: readonly KeyObject[]): string =>
  keys.map((key) => key.export({ type: 'spki', format: 'pem' }).toString()).join('');
