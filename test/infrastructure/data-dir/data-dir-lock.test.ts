import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDataDir, lockHolder } from '../../../src/infrastructure/data-dir/data-dir-lock.ts';
import { type Helper, startHelper } from '../../support/processes/processes.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

describe('lockDataDir', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let dataDir: string;
  let file: string;
  let helpers: Helper[];
  beforeEach(() => {
    directory = temporaryDirectory();
    dataDir = join(directory.path, 'data');
    file = join(dataDir, 'tandem.pid');
    helpers = [];
  });
  afterEach(async () => {
    for (const helper of helpers) await helper.kill();
    directory.remove();
  });

  const start = async (): Promise<Helper> => {
    const helper = await startHelper(new URL('../../support/processes/hold-lock.ts', import.meta.url), dataDir);
    helpers.push(helper);
    return helper;
  };
  const leave = (content: string) => {
    lockDataDir(dataDir)();
    writeFileSync(file, content);
  };
  const pidOfTheDead = () => spawnSync(process.execPath, ['--version']).pid;

  it('makes the directory, for its owner alone, and writes down the process', () => {
    const unlock = lockDataDir(dataDir);
    expect(readFileSync(file, 'utf8')).toBe(String(process.pid));
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    unlock();
    expect(existsSync(file)).toBe(false);
  });

  it('refuses a second owner in this process, by whatever path, until the first gives it back', () => {
    const unlock = lockDataDir(dataDir);
    const alias = join(directory.path, 'alias');
    symlinkSync(dataDir, alias);
    expect(() => lockDataDir(dataDir)).toThrow(`DATA_DIR (${dataDir}) cannot be used: process ${process.pid}`);
    expect(() => lockDataDir(alias)).toThrow(`DATA_DIR (${alias}) cannot be used: process ${process.pid}`);
    unlock();
    lockDataDir(alias)();
  });

  it('refuses a directory that a live process holds, and names the process', async () => {
    const holder = await start();
    expect(holder.output).toBe('held');
    expect(() => lockDataDir(dataDir)).toThrow(`DATA_DIR (${dataDir}) cannot be used: process ${holder.pid}`);
    expect(readFileSync(file, 'utf8')).toBe(String(holder.pid));
  });

  it('takes over what a killed process left', async () => {
    const holder = await start();
    await holder.kill();
    const unlock = lockDataDir(dataDir);
    expect(readFileSync(file, 'utf8')).toBe(String(process.pid));
    unlock();
    expect(readdirSync(dataDir)).toEqual(['tandem.lock']);
  });

  it('takes over what another start left under the pid that is now its own', () => {
    leave(String(process.pid));
    const unlock = lockDataDir(dataDir);
    expect(() => lockDataDir(dataDir)).toThrow('is using it');
    unlock();
  });

  it('takes nothing over that it cannot read, and names the file', () => {
    for (const content of ['postgres', '-1', '0']) {
      leave(content);
      expect(() => lockDataDir(dataDir)).toThrow(`remove ${file}`);
      expect(readFileSync(file, 'utf8')).toBe(content);
      writeFileSync(file, String(pidOfTheDead()));
    }
  });

  it('gives a leftover to one of many processes that find it at the same time', async () => {
    leave(String(pidOfTheDead()));
    const started = await Promise.all(Array.from({ length: 6 }, start));
    const winners = started.filter(({ output }) => output === 'held');
    expect(winners).toHaveLength(1);
    expect(readFileSync(file, 'utf8')).toBe(String(winners[0]?.pid));
    expect(readdirSync(dataDir)).toEqual(['tandem.lock', 'tandem.pid']);
  });

  it('refuses a directory that a process of another container holds, whose pid says nothing here', async () => {
    const holder = await start();
    for (const pid of ['1', String(process.pid), String(pidOfTheDead()), '']) {
      writeFileSync(file, pid);
      expect(() => lockDataDir(dataDir)).toThrow('is using it');
      expect(lockHolder(dataDir)).toBe(pid);
    }
    await holder.kill();
    writeFileSync(file, '');
    expect(lockHolder(dataDir)).toBeNull();
    lockDataDir(dataDir)();
  });

  it('takes over an empty file, as a loss of power leaves it', () => {
    leave('');
    lockDataDir(dataDir)();
  });

  it('gives back only what is its own', () => {
    const unlock = lockDataDir(dataDir);
    writeFileSync(file, '1');
    unlock();
    expect(readFileSync(file, 'utf8')).toBe('1');
  });

  it('says why a directory cannot be used', () => {
    const occupied = join(directory.path, 'a-file');
    writeFileSync(occupied, '');
    expect(() => lockDataDir(occupied)).toThrow(`DATA_DIR (${occupied}) cannot be used: EEXIST`);
    expect(() => lockDataDir(join(occupied, 'below'))).toThrow('cannot be used: ENOTDIR');
  });
});
