import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readText } from '../support/checkout/repository.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const MODULE = new URL('../../src/infrastructure/compile-cache.js', import.meta.url).href;
const PROGRAM = `
  const { useCompileCache } = await import(process.argv[1]);
  useCompileCache(process.argv[2]);
  process.stdout.write((await import('node:module')).getCompileCacheDir() ?? 'none');
`;
const PRIVATE = 0o700;
const ANOTHER_USER = 65_534;
const isRoot = process.geteuid?.() === 0;

describe('the compile cache', () => {
  let temporary: ReturnType<typeof temporaryDirectory>;
  let modules: string;
  let cache: string;
  beforeEach(() => {
    temporary = temporaryDirectory();
    modules = join(temporary.path, 'node_modules');
    cache = join(modules, '.cache', 'tandem', 'compile');
    mkdirSync(modules);
  });

  /** The directory that a new process uses after `useCompileCache`, or `none`; fails if the process complains. */
  const used = (env: Readonly<Record<string, string>> = {}): string => {
    const args = ['--input-type=module', '--eval', PROGRAM, MODULE, modules];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  };

  it('is next to the packages, in a directory that only its owner can access', () => {
    expect(used().startsWith(cache)).toBe(true);
    expect(readdirSync(cache)).not.toEqual([]);
    expect(statSync(cache).mode & 0o777).toBe(PRIVATE);
  });

  it('is that of NODE_COMPILE_CACHE when it is set', () => {
    const given = join(temporary.path, 'given');
    expect(used({ NODE_COMPILE_CACHE: given }).startsWith(given)).toBe(true);
  });

  it('is off with NODE_DISABLE_COMPILE_CACHE', () => {
    expect(used({ NODE_DISABLE_COMPILE_CACHE: '1' })).toBe('none');
  });

  it.each([
    ['the directory', ''],
    ['its parent', '..'],
    ['the parent of that', '../..'],
  ])('is not used when others can write to %s', (_, path) => {
    mkdirSync(cache, { recursive: true, mode: PRIVATE });
    chmodSync(join(cache, path), 0o777);
    expect(used()).toBe('none');
  });

  it('is not used through a link', () => {
    const elsewhere = join(temporary.path, 'elsewhere');
    mkdirSync(elsewhere, { mode: PRIVATE });
    mkdirSync(join(cache, '..'), { recursive: true, mode: PRIVATE });
    symlinkSync(elsewhere, cache);
    expect(used()).toBe('none');
  });

  it('is off, without a message, where the directory cannot be created', () => {
    writeFileSync(join(modules, '.cache'), '');
    expect(used()).toBe('none');
  });

  it.runIf(isRoot)('is not used when it belongs to another user', () => {
    mkdirSync(cache, { recursive: true, mode: PRIVATE });
    chownSync(cache, ANOTHER_USER, ANOTHER_USER);
    expect(used()).toBe('none');
  });

  it.runIf(isRoot)('is not created among packages of another user', () => {
    chownSync(modules, ANOTHER_USER, ANOTHER_USER);
    expect(used()).toBe('none');
    expect(readdirSync(modules)).toEqual([]);
  });

  it('covers all of the service but the modules that set it up, which need no compiler', () => {
    const imports = readText('src/infrastructure/main.js').match(/^import .*$/gm);
    expect(imports).toEqual([
      `import { useCompileCache } from './compile-cache.js';`,
      `import { resolveByName } from './module-resolution.js';`,
    ]);
  });
});
