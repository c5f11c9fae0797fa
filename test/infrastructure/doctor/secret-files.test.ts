import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { secretFiles } from '../../../src/infrastructure/doctor/probes/secret-files.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

describe.runIf(process.geteuid !== undefined)('the doctor looks who can read', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  beforeEach(() => {
    directory = temporaryDirectory();
    // Made for its owner alone, which would hide everything in it.
    chmodSync(directory.path, 0o755);
  });
  afterEach(() => directory.remove());

  const plant = (name: string, text: string, mode: number): string => {
    const path = join(directory.path, name);
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  };
  const look = (nodeArguments: readonly string[] = [], databaseUrl: string | null = null) =>
    secretFiles({
      workingDirectory: directory.path,
      dataDir: join(directory.path, 'data'),
      nodeArguments,
      databaseUrl,
    });
  const readers = async (...given: Parameters<typeof look>) => (await look(...given)).map(({ readers }) => readers);

  it.each([
    [0o600, 'nobody'],
    [0o640, 'group'],
    [0o644, 'everybody'],
  ])('`.env` with a password and the mode %o', async (mode, expected) => {
    const path = plant('.env', 'REDIS_PASSWORD=p\n', mode);
    expect(await look()).toEqual([{ path, holds: expect.any(String), readers: expected }]);
  });

  it('a file in a directory that others cannot enter', async () => {
    plant('.env', 'PGPASSWORD=p\n', 0o644);
    chmodSync(directory.path, 0o700);
    expect(await readers()).toEqual(['nobody']);
  });

  it.each([
    ['a password in a URL', 'DATABASE_URL=postgresql://u:p@h/d', 1],
    ['a password of a mail server', 'MAIL_URL=smtps://u:p@h', 1],
    ['a key', 'JWT_ACCESS_PRIVATE_KEY=pem', 1],
    ['a URL without a password', 'DATABASE_URL=postgresql://u@h/d', 0],
    ['an empty password', 'REDIS_PASSWORD=', 0],
    ['no secret', 'PORT=3000', 0],
  ])('`.env`, if it has a secret: %s', async (_what, text, count) => {
    plant('.env', `${text}\n`, 0o644);
    expect(await look()).toHaveLength(count);
  });

  it('environment files of the command line', async () => {
    const one = plant('one.env', 'PGPASSWORD=p\n', 0o644);
    const other = plant('other.env', 'PGPASSWORD=p\n', 0o600);
    const found = await look([`--env-file=${one}`, '--env-file-if-exists', other, '--watch']);
    expect(found.map(({ path, readers }) => [path, readers])).toEqual([
      [one, 'everybody'],
      [other, 'nobody'],
    ]);
  });

  it('keys and database in DATA_DIR', async () => {
    const data = join(directory.path, 'data');
    for (const name of ['', 'keys', 'database']) mkdirSync(join(data, name), { mode: 0o755 });
    chmodSync(join(data, 'database'), 0o751);
    const path = plant('data/keys/access.pem', 'pem', 0o604);
    expect((await look()).map(({ path, readers }) => [path, readers])).toEqual([
      [path, 'everybody'],
      [join(data, 'database'), 'everybody'],
    ]);
  });

  it('the client key in DATABASE_URL', async () => {
    const path = plant('client.key', 'pem', 0o644);
    expect(await look([], `postgresql://u@h/d?sslkey=${encodeURIComponent(path)}`)).toMatchObject([
      { path, readers: 'everybody' },
    ]);
  });

  it('nothing where nothing is', async () => {
    expect(await look()).toEqual([]);
  });
});
