import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { secretFiles } from '../../../src/infrastructure/commands/doctor/keys.ts';
import { brief, setUpOf } from '../../support/doctor.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

type File = readonly [name: string, text: string, mode: number];

/** What is found in a directory with these files, which everybody may enter. */
const examined = async (files: readonly File[], nodeArguments: readonly string[] = [], mode = 0o755) => {
  const { path } = temporaryDirectory();
  for (const name of ['keys', 'mail']) mkdirSync(join(path, name), { mode: 0o700 });
  for (const [name, text, ofFile] of files) {
    if (text !== '') writeFileSync(join(path, name), text);
    chmodSync(join(path, name), ofFile);
  }
  chmodSync(path, mode);
  const url = `postgresql://u@h/d?sslkey=${encodeURIComponent(join(path, 'client.key'))}`;
  const setUp = setUpOf({ DATABASE_URL: url }, path);
  const seen = [await secretFiles({ ...setUp, nodeArguments })].flat();
  return seen.filter(({ seen }) => !/mail\.$/.test(seen));
};

describe.runIf(process.geteuid !== undefined)('the doctor finds out who can read', () => {
  it.each([
    [0o600, ['ok secrets.private']],
    [0o640, ['note secrets.group']],
    [0o644, ['problem secrets.everybody']],
  ])('`.env` with a password and the mode %o', async (mode, expected) => {
    expect(brief(await examined([['.env', 'PGPASSWORD=p', mode]]))).toEqual(expected);
  });

  it('a file in a directory that others cannot enter', async () => {
    expect(brief(await examined([['.env', 'PGPASSWORD=p', 0o644]], [], 0o700))).toEqual(['ok secrets.private']);
  });

  it.each([
    ['a password in a URL', 'DATABASE_URL=postgresql://u:p@h/d', 1],
    ['a key', 'JWT_ACCESS_PRIVATE_KEY=pem', 1],
    ['a key for authenticator apps', 'FACTOR_KEYS=key', 1],
    ['a secret at a provider', 'OIDC_ACME_CLIENT_SECRET=s', 1],
    ['a URL without a password', 'DATABASE_URL=postgresql://u@h/d', 0],
    ['an empty password', 'PGPASSWORD=', 0],
    ['no secret', 'PORT=3000', 0],
  ])('`.env`, if it has a secret: %s', async (_what, text, count) => {
    expect(await examined([['.env', text, 0o644]])).toHaveLength(count);
  });

  it('environment files of the command line', async () => {
    const files: File[] = [
      ['one.env', 'PGPASSWORD=p', 0o644],
      ['other.env', 'PGPASSWORD=p', 0o600],
    ];
    const seen = await examined(files, ['--env-file=one.env', '--env-file-if-exists', 'other.env', '--watch']);
    expect(brief(seen)).toEqual(['problem secrets.everybody', 'ok secrets.private']);
  });

  it.each(['keys/access.pem', 'keys/factors.key', 'client.key'])('%s', async (name) => {
    const seen = await examined([
      ['keys', '', 0o755],
      [name, 'pem', 0o604],
    ]);
    expect(brief(seen)).toEqual(['problem secrets.everybody']);
  });

  it('the directory mail', async () => {
    expect(brief(await examined([['mail', '', 0o751]]))).toEqual(['problem secrets.everybody']);
  });

  it.each([
    ['in DATA_DIR', (path: string) => setUpOf({}, path)],
    ['of DATABASE_URL', (path: string) => setUpOf({ DATABASE_URL: `sqlite:${join(path, 'database.sqlite')}` })],
  ])('the file of SQLite %s', async (_where, setUpIn) => {
    const { path } = temporaryDirectory();
    writeFileSync(join(path, 'database.sqlite'), '', { mode: 0o604 });
    chmodSync(path, 0o755);
    expect(brief(await secretFiles(setUpIn(path)))).toEqual(['problem secrets.everybody']);
  });
});

it('the doctor finds no secrets where there are none', async () => {
  expect(brief(await secretFiles(setUpOf({})))).toEqual(['ok secrets.none']);
});
