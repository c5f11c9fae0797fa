import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packTar } from 'modern-tar';
import { describe, expect, it, onTestFinished } from 'vitest';
import { packBackup, readBackup } from '../../../src/infrastructure/data/archive.ts';
import {
  FACTOR_KEY_FILE,
  KEY_FILES,
  newFactorKey,
  newPair,
  privatePem,
} from '../../../src/infrastructure/keys/keys.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const tarOf = async (name: string): Promise<Buffer> =>
  Buffer.from(await packTar([{ header: { name, size: 2 }, body: '17' }]));
const pem = Buffer.from(privatePem(newPair().privateKey));
const factorKey = Buffer.from(`${newFactorKey()}\n`);

const read = async (keys: Record<string, Buffer>, database: Buffer) => {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  const file = join(path, 'backup.tgz');
  const takenAt = '2026-11-22T00:00:00.000Z';
  writeFileSync(file, await packBackup({ takenAt, keys: new Map(Object.entries(keys)), database }));
  return readBackup(file);
};

describe('a backup', () => {
  it('has a database and keys of the service', async () => {
    const given = { [KEY_FILES.access]: pem, [FACTOR_KEY_FILE]: factorKey };
    const { keys } = await read(given, await tarOf('/PG_VERSION'));
    expect(keys).toEqual(new Map(Object.entries(given)));
  });

  // Proves: operator-8
  it.each([
    ['no database', { [KEY_FILES.access]: pem }, tarOf('/base')],
    ['a file that is no key', { [KEY_FILES.access]: Buffer.from('no key') }, tarOf('/PG_VERSION')],
    ['another key for authenticator apps', { [FACTOR_KEY_FILE]: pem }, tarOf('/PG_VERSION')],
    ['a key of tokens that is none', { [KEY_FILES.access]: factorKey }, tarOf('/PG_VERSION')],
    ['a key under another name', { 'keys/other.pem': pem }, tarOf('/PG_VERSION')],
    ['a name that leads elsewhere', { '../access.pem': pem }, tarOf('/PG_VERSION')],
    ['a key that is too large', { [KEY_FILES.access]: Buffer.alloc(16_385) }, tarOf('/PG_VERSION')],
  ])('is refused with %s', async (_what, keys, database) => {
    await expect(read(keys as Record<string, Buffer>, await database)).rejects.toMatchObject({ code: 'not-a-backup' });
  });
});
