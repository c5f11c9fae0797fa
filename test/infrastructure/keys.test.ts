// Proves SPEC 13.10, 15.2; ASVS 11.5.1
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { TokenKeys } from '../../src/adapters/crypto/token-keys.ts';
import { publicHookKey } from '../../src/adapters/hooks/signing.ts';
import { loadOrCreateHookKey, loadOrCreateKeys, openFactorKeys } from '../../src/infrastructure/keys.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

let parent: string;
let dataDir: string;
beforeEach(() => {
  const directory = temporaryDirectory();
  parent = directory.path;
  dataDir = join(parent, 'data');
});

const file = (name = '') => join(dataDir, 'keys', name);
const modes = (...paths: string[]) => paths.map((path) => (fs.statSync(path).mode & 0o777).toString(8));
const exported = ({ access, refresh }: TokenKeys) =>
  [access, refresh].map(({ privateKey, publicKeys }) => [
    privateKey.export({ format: 'jwk' }),
    publicKeys.map((key) => key.export({ format: 'jwk' })),
  ]);
const pem = (namedCurve: string): string =>
  generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const messageOf = async (loading: Promise<unknown>): Promise<string> =>
  loading.then(
    () => expect.unreachable('nothing failed'),
    ({ message }: Error) => message,
  );

const factorKey = async (at = dataDir) =>
  (await openFactorKeys({ factorKeys: null, nodeEnv: 'test', dataDir: at }))?.[0];
const hookKey = (at = dataDir) => loadOrCreateHookKey({ hookPrivateKey: null, dataDir: at });
const KINDS = [
  {
    what: 'the pairs of tokens',
    files: ['access.pem', 'refresh.pem'],
    load: async (at: string): Promise<unknown> => exported(await loadOrCreateKeys(at)),
  },
  { what: 'the key of authenticator apps', files: ['factors.key'], load: factorKey },
  {
    what: 'the key of hooks',
    files: ['hooks.pem'],
    load: async (at: string) => (await hookKey(at)).export({ format: 'jwk' }),
  },
];

describe.each(KINDS)('$what', ({ files, load }) => {
  const [name = ''] = files;

  it('are the same for all who ask at once and the next time, and others in another directory', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => load(dataDir)));
    for (const other of [...others, await load(dataDir)]) expect(other).toEqual(first);
    expect(fs.readdirSync(file()).sort()).toEqual(files);
    expect(await load(join(parent, 'other'))).not.toEqual(first);
  });

  it('are for their owner alone, also in directories that others could enter', async () => {
    const first = await load(dataDir);
    expect(modes(dataDir, file(), ...files.map(file))).toEqual(['700', '700', ...files.map(() => '600')]);
    for (const path of [dataDir, file()]) fs.chmodSync(path, 0o755);
    expect(await load(dataDir)).toEqual(first);
    expect(modes(dataDir, file())).toEqual(['700', '700']);
  });

  it.each<[string, (own: string) => string]>([
    ['is empty', () => ''],
    ['is cut short', (own) => own.slice(0, 20)],
    ['holds a key on another curve', () => pem('P-384')],
    // That of hooks has more below its key.
    ...(name === 'hooks.pem'
      ? []
      : [['holds two keys', (own: string) => own + own] as [string, (own: string) => string]]),
  ])('are refused in a file that %s, which is named, with nothing of it, and not replaced', async (_how, damaged) => {
    await load(dataDir);
    const own = fs.readFileSync(file(name), 'utf8');
    const text = damaged(own);
    fs.writeFileSync(file(name), text);
    const message = await messageOf(load(dataDir));
    for (const part of ['DATA_DIR', join('keys', name)]) expect(message).toContain(part);
    for (const secret of ['BEGIN', own.slice(0, 20)]) expect(message).not.toContain(secret);
    expect(fs.readFileSync(file(name), 'utf8')).toBe(text);
  });

  it('are refused by name and reason when the file is a directory', async () => {
    fs.mkdirSync(file(name), { recursive: true });
    expect(await messageOf(load(dataDir))).toMatch(new RegExp(`DATA_DIR.*${name}: EISDIR`));
  });
});

describe('loadOrCreateKeys', () => {
  const failure = () => messageOf(loadOrCreateKeys(dataDir));

  it('refuses keys that everybody may read behind a link, and names DATA_DIR', async () => {
    await loadOrCreateKeys(dataDir);
    fs.renameSync(file(), join(parent, 'elsewhere'));
    fs.chmodSync(join(parent, 'elsewhere'), 0o755);
    fs.symlinkSync(join(parent, 'elsewhere'), file());
    expect(await failure()).toMatch(/DATA_DIR cannot be used: everybody may enter keys/);
  });

  it('takes up where a crash left it: with a draft and one file of two', async () => {
    const before = await loadOrCreateKeys(dataDir);
    fs.rmSync(file('refresh.pem'));
    fs.writeFileSync(file('refresh.pem.1.tmp'), '-----BEGIN PRIV');
    const after = await loadOrCreateKeys(dataDir);
    expect(after.access.privateKey.equals(before.access.privateKey)).toBe(true);
    expect(after.refresh.privateKey.equals(before.refresh.privateKey)).toBe(false);
    expect(createPrivateKey(fs.readFileSync(file('refresh.pem'))).equals(after.refresh.privateKey)).toBe(true);
  });

  it('refuses one pair for both tokens', async () => {
    await loadOrCreateKeys(dataDir);
    fs.copyFileSync(file('access.pem'), file('refresh.pem'));
    expect(await failure()).toMatch(/DATA_DIR.*refresh\.pem.*access\.pem/);
  });

  it.each<[string, RegExp, () => void]>([
    ['is a file', /DATA_DIR.*ENOTDIR: not a directory/, () => fs.writeFileSync(dataDir, '')],
    [
      'cannot be made',
      /DATA_DIR.*access\.pem: E[A-Z]+: /,
      () => fs.symlinkSync(join(parent, 'nowhere', 'data'), dataDir),
    ],
  ])('names DATA_DIR and the reason when that %s', async (_how, message, prepare) => {
    prepare();
    expect(await failure()).toMatch(message);
  });
});

it('the key of authenticator apps has 32 bytes, and is beside the pairs', async () => {
  await loadOrCreateKeys(dataDir);
  expect(await factorKey()).toHaveLength(32);
  expect(fs.readdirSync(file()).sort()).toEqual(['access.pem', 'factors.key', 'refresh.pem']);
});

it('the key of hooks is one of Ed25519, with the public one below it', async () => {
  const key = await hookKey();
  expect(key.asymmetricKeyType).toBe('ed25519');
  expect(fs.readFileSync(file('hooks.pem'), 'utf8').split('\n').slice(-2)).toEqual([publicHookKey(key), '']);
});

it('no key of hooks is made where the environment has one', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  expect(await loadOrCreateHookKey({ hookPrivateKey: privateKey, dataDir })).toBe(privateKey);
  expect(fs.existsSync(dataDir)).toBe(false);
});
