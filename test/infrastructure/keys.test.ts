import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TokenKeys } from '../../src/adapters/crypto/token-keys.ts';
import { publicHookKey } from '../../src/adapters/hooks/signing.ts';
import { loadOrCreateFactorKey, loadOrCreateHookKey, loadOrCreateKeys } from '../../src/infrastructure/keys.ts';

let parent: string;
let dataDir: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'tandem-keys-'));
  dataDir = join(parent, 'data');
});
afterEach(() => rm(parent, { recursive: true, force: true }));

const file = (name: string) => join(dataDir, 'keys', name);
const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
const exported = ({ access, refresh }: TokenKeys) =>
  [access, refresh].map(({ privateKey, publicKeys }) => [
    privateKey.export({ format: 'jwk' }),
    publicKeys.map((key) => key.export({ format: 'jwk' })),
  ]);

describe('loadOrCreateKeys', () => {
  it('makes two pairs on P-256 that differ', async () => {
    const { access, refresh } = await loadOrCreateKeys(dataDir);
    for (const { privateKey, publicKeys } of [access, refresh]) {
      expect(privateKey.type).toBe('private');
      expect(privateKey.asymmetricKeyDetails).toMatchObject({ namedCurve: 'prime256v1' });
      expect(publicKeys).toHaveLength(1);
      const { d: _private, ...half } = privateKey.export({ format: 'jwk' });
      expect(publicKeys[0]?.export({ format: 'jwk' })).toEqual(half);
    }
    expect(access.privateKey.equals(refresh.privateKey)).toBe(false);
  });

  it('lets their owner alone read them, and leaves nothing else behind', async () => {
    await loadOrCreateKeys(dataDir);
    expect(await mode(dataDir)).toBe('700');
    expect(await mode(join(dataDir, 'keys'))).toBe('700');
    expect((await readdir(join(dataDir, 'keys'))).sort()).toEqual(['access.pem', 'refresh.pem']);
    expect(await mode(file('access.pem'))).toBe('600');
    expect(await mode(file('refresh.pem'))).toBe('600');
  });

  it('lets nobody else into the directory of keys that are there', async () => {
    const first = await loadOrCreateKeys(dataDir);
    await chmod(dataDir, 0o755);
    await chmod(join(dataDir, 'keys'), 0o755);
    expect(exported(await loadOrCreateKeys(dataDir))).toEqual(exported(first));
    expect(await Promise.all([dataDir, join(dataDir, 'keys')].map(mode))).toEqual(['700', '700']);
  });

  it('refuses keys that everybody may read behind a link, and names DATA_DIR', async () => {
    await loadOrCreateKeys(dataDir);
    await rename(join(dataDir, 'keys'), join(parent, 'elsewhere'));
    await chmod(join(parent, 'elsewhere'), 0o755);
    await symlink(join(parent, 'elsewhere'), join(dataDir, 'keys'));
    expect((await failure()).message).toMatch(/DATA_DIR cannot be used: everybody may enter keys/);
  });

  it('gives the same pairs the next time', async () => {
    const first = await loadOrCreateKeys(dataDir);
    expect(exported(await loadOrCreateKeys(dataDir))).toEqual(exported(first));
  });

  it('gives one and the same pairs to all who ask at once', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateKeys(dataDir)));
    for (const other of others) expect(exported(other)).toEqual(exported(first ?? expect.unreachable()));
    expect((await readdir(join(dataDir, 'keys'))).sort()).toEqual(['access.pem', 'refresh.pem']);
  });

  it('takes up where a crash left it: with a draft and one file of two', async () => {
    const before = await loadOrCreateKeys(dataDir);
    await rm(file('refresh.pem'));
    await writeFile(file('refresh.pem.1.tmp'), '-----BEGIN PRIV');
    const after = await loadOrCreateKeys(dataDir);
    expect(after.access.privateKey.equals(before.access.privateKey)).toBe(true);
    expect(after.refresh.privateKey.equals(before.refresh.privateKey)).toBe(false);
    expect(createPrivateKey(await readFile(file('refresh.pem'))).equals(after.refresh.privateKey)).toBe(true);
  });

  it.each([
    ['is empty', () => ''],
    ['is cut short', (pem: string) => pem.slice(0, 80)],
    ['holds a key on another curve', () => pem('P-384')],
    ['holds two keys', (own: string) => own + pem('P-256')],
  ])('refuses a file that %s, naming it and nothing of it', async (_title, damaged) => {
    await loadOrCreateKeys(dataDir);
    const damagedPem = damaged(await readFile(file('access.pem'), 'utf8'));
    await writeFile(file('access.pem'), damagedPem);
    const error = await failure();
    expect(error.message).toContain('DATA_DIR');
    expect(error.message).toContain(join('keys', 'access.pem'));
    expect(error.message).not.toContain('BEGIN');
    expect(await readFile(file('access.pem'), 'utf8')).toBe(damagedPem);
  });

  it('refuses one pair for both tokens', async () => {
    await loadOrCreateKeys(dataDir);
    await copyFile(file('access.pem'), file('refresh.pem'));
    expect((await failure()).message).toMatch(/DATA_DIR.*refresh\.pem.*access\.pem/);
  });

  it('names DATA_DIR and the reason when that is a file', async () => {
    await writeFile(dataDir, '');
    expect((await failure()).message).toMatch(/DATA_DIR.*ENOTDIR: not a directory/);
  });

  it('names DATA_DIR and the reason when a key file is a directory', async () => {
    await mkdir(file('access.pem'), { recursive: true });
    expect((await failure()).message).toMatch(/DATA_DIR.*access\.pem: EISDIR/);
  });

  it('names DATA_DIR and the reason when it cannot be made', async () => {
    await symlink(join(parent, 'nowhere', 'data'), dataDir);
    expect((await failure()).message).toMatch(/DATA_DIR.*access\.pem: E[A-Z]+: /);
  });
});

describe('loadOrCreateFactorKey', () => {
  it('makes a key of 32 bytes, and gives it to all who ask at once and the next time', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateFactorKey(dataDir)));
    expect(first).toHaveLength(32);
    for (const other of [...others, await loadOrCreateFactorKey(dataDir)]) expect(other).toEqual(first);
    expect(await readdir(join(dataDir, 'keys'))).toEqual(['factors.key']);
  });

  it('makes another one in another directory, beside the pairs, which its owner alone can read', async () => {
    await loadOrCreateKeys(dataDir);
    expect(await loadOrCreateFactorKey(dataDir)).not.toEqual(await loadOrCreateFactorKey(join(parent, 'other')));
    expect((await readdir(join(dataDir, 'keys'))).sort()).toEqual(['access.pem', 'factors.key', 'refresh.pem']);
    expect(await Promise.all([join(dataDir, 'keys'), file('factors.key')].map(mode))).toEqual(['700', '600']);
  });

  it.each([
    ['is empty', () => ''],
    ['is cut short', (text: string) => text.slice(0, 20)],
    ['holds two keys', (text: string) => text + text],
  ])('refuses a file that %s, naming it and nothing of it, and does not replace it', async (_title, damaged) => {
    await loadOrCreateFactorKey(dataDir);
    const text = await readFile(file('factors.key'), 'utf8');
    await writeFile(file('factors.key'), damaged(text));
    const error = await failure(loadOrCreateFactorKey);
    expect(error.message).toMatch(/DATA_DIR.*factors\.key/);
    expect(error.message).not.toContain(text.slice(0, 20));
    expect(await readFile(file('factors.key'), 'utf8')).toBe(damaged(text));
  });

  it('names DATA_DIR, the file and the reason when that is a directory', async () => {
    await mkdir(file('factors.key'), { recursive: true });
    expect((await failure(loadOrCreateFactorKey)).message).toMatch(/DATA_DIR.*factors\.key: EISDIR/);
  });
});

describe('loadOrCreateHookKey', () => {
  const load = (at = dataDir) => loadOrCreateHookKey({ hookPrivateKey: null, dataDir: at });

  it('makes a key that its owner alone can read, with the public one below it, for all who ask at once', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => load()));
    for (const other of [...others, await load()]) expect(other.equals(first ?? expect.unreachable())).toBe(true);
    expect(first?.asymmetricKeyType).toBe('ed25519');
    expect((await readFile(file('hooks.pem'), 'utf8')).split('\n').slice(-2)).toEqual([
      publicHookKey(first ?? expect.unreachable()),
      '',
    ]);
    expect(await Promise.all([join(dataDir, 'keys'), file('hooks.pem')].map(mode))).toEqual(['700', '600']);
    expect((await load(join(parent, 'other'))).equals(first ?? expect.unreachable())).toBe(false);
  });

  it('makes none where the environment has one', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    expect(await loadOrCreateHookKey({ hookPrivateKey: privateKey, dataDir })).toBe(privateKey);
    await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
  });

  it('refuses a key on another curve, naming the file and nothing of it', async () => {
    await mkdir(join(dataDir, 'keys'), { recursive: true });
    await writeFile(file('hooks.pem'), pem('P-256'));
    expect((await failure(load)).message).toMatch(/^The keys in DATA_DIR cannot be used: [^-]*hooks\.pem [^-]*$/);
  });
});

const failure = async (load: (dataDir: string) => Promise<unknown> = loadOrCreateKeys): Promise<Error> => {
  try {
    await load(dataDir);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing failed');
};

const pem = (namedCurve: string): string =>
  generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
