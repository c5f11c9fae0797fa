import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileMailer } from '../../../src/adapters/mailer/files.ts';
import { MAIL } from '../../contracts/mailer/store.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const root = temporaryDirectory();

const LINK = 'http://localhost:3000/account/password-reset#token=abc_-';

describe('mail in files', () => {
  it('is reported to the caller with its path and its links', async () => {
    const written: unknown[] = [];
    const mailer = fileMailer({
      directory: join(root.path, 'reported'),
      from: 'tandem@localhost',
      onWritten: (path, links) => written.push([path, links]),
    });
    await mailer.send({ ...MAIL, text: `Open this:\n\n${LINK}\n\nNot you? Then:\n\n${LINK}d\n` });
    const [name = ''] = await readdir(join(root.path, 'reported'));
    expect(name).toMatch(/^\d{4}-\d\d-\d\dT[\d.-]+Z-01KAMA5A7000000000000000M1\.eml$/);
    expect(written).toEqual([[join(root.path, 'reported', name), [LINK, `${LINK}d`]]]);
    expect(await readFile(join(root.path, 'reported', name), 'utf8')).toContain('Subject: A subject\r\n');
  });

  it('can be read by its owner alone', async () => {
    const directory = join(root.path, 'a', 'private');
    const umask = process.umask(0);
    try {
      await fileMailer({ directory, from: 'tandem@localhost' }).send(MAIL);
    } finally {
      process.umask(umask);
    }
    const [name = ''] = await readdir(directory);
    const modes = await Promise.all([directory, join(directory, name)].map(async (path) => (await stat(path)).mode));
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o600]);
  });

  it('stays in its directory, whatever the id is', async () => {
    const directory = join(root.path, 'inside');
    await fileMailer({ directory, from: 'tandem@localhost' }).send({ ...MAIL, id: '../../outside/\0' });
    expect(await readdir(directory)).toEqual([expect.stringMatching(/-______outside__\.eml$/)]);
  });
});
