// Proves SPEC 14.11, 15.1; operator-4
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WITH_OFFICE } from '../support/http/back-office.ts';
import { listenOnLoopback } from '../support/listen.ts';
import { spawnService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** The output and the exit status of a start that fails. */
const refusalOf = async (env: Readonly<Record<string, string>>, wrap?: readonly string[]) => {
  const { outcome, stdout, stderr } = spawnService(env, wrap);
  const { code } = await outcome;
  return { code, stdout, stderr };
};

describe('the service refuses to start', () => {
  it('with a Node.js that is too old, and says how to get another one', async () => {
    const { code, stdout, stderr } = await refusalOf({ NODE_OPTIONS: '--no-strip-types' });
    expect([code, stdout]).toEqual([1, []]);
    expect(stderr).toEqual([expect.stringMatching(/^Tandem needs Node\.js 22\.18 or later\..*npm install/)]);
  });

  const directory = temporaryDirectory();

  it('on a disk without space for its database', async () => {
    // A limit on the size of files simulates the full disk: 8 blocks are more than a key, and less than the tables.
    const limited = ['bash', '-c', 'ulimit -f 8; exec "$@"', 'limited'];
    const { code, stderr } = await refusalOf({ DATA_DIR: join(directory.path, 'full') }, limited);
    expect(code).toBe(1);
    expect(stderr).toEqual([expect.stringContaining('DATA_DIR')]);
  });

  /** Of a start in a directory with this `.env`. */
  const refusalWith = (content: Buffer) => {
    const workingDirectory = mkdtempSync(join(directory.path, 'with-env-'));
    writeFileSync(join(workingDirectory, '.env'), content);
    return refusalOf({}, ['bash', '-c', 'cd "$0"; exec "$@"', workingDirectory]);
  };
  const INVALID = 'NODE_ENV=production\nTRUST_PROXY=marker\nBASE_URL=ftp://é\n';

  it.each([
    ['UTF-8', Buffer.from(INVALID)],
    ['UTF-16, big-endian', Buffer.from(`\uFEFF${INVALID}`, 'utf16le').swap16()],
  ])('with an invalid `.env` in the working directory, in %s', async (_encoding, content) => {
    const { code, stdout, stderr } = await refusalWith(content);
    expect([code, stdout]).toEqual([2, []]);
    const names = ['BASE_URL', 'TRUST_PROXY', 'JWT_ACCESS_PRIVATE_KEY', 'JWT_REFRESH_COOKIE_SECURE'];
    expect(stderr.map((line) => line.split(':')[0])).toEqual(expect.arrayContaining(names));
    expect(stderr.join()).not.toContain('marker');
  });

  it.each([
    ['Latin-1', Buffer.from(INVALID, 'latin1')],
    ['UTF-16 without a byte order mark', Buffer.from('PORT=marker\n', 'utf16le')],
  ])('with a `.env` in %s', async (_encoding, content) => {
    expect(await refusalWith(content)).toEqual({
      code: 2,
      stdout: [],
      stderr: ['.env cannot be read: it is neither UTF-8, nor UTF-16 with a byte order mark'],
    });
  });

  it.each([
    ['PORT', {}],
    ['METRICS', {}],
    ['ADMIN_PORT', { ADMIN_KEYS: WITH_OFFICE.ADMIN_KEYS }],
  ])('on a %s that is taken, before it creates a database', async (name, env) => {
    const { port } = await listenOnLoopback(createServer());
    const dataDir = join(directory.path, `untouched-${name}`);
    const { code, stdout, stderr } = await refusalOf({ ...env, DATA_DIR: dataDir, [name]: String(port) });
    expect({ code, stdout }).toEqual({ code: 1, stdout: [] });
    expect(stderr).toEqual([
      expect.stringMatching(new RegExp(`${name}: cannot listen on 127\\.0\\.0\\.1:${port}: address already in use`)),
    ]);
    expect(existsSync(dataDir)).toBe(false);
  });
});
