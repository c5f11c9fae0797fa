import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();

describe('console/page/console.js', () => {
  it('is what `npm run console` makes of the source', () => {
    const file = join(directory.path, 'console.js');
    const rolldown = join(ROOT, 'node_modules/.bin/rolldown');
    expect(spawnSync(rolldown, ['-c', '-o', file], { cwd: join(ROOT, 'console') }).status).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(readText('console/page/console.js'));
  });

  it('imports the client from the service, and nothing else', () => {
    const imported = [...readText('console/page/console.js').matchAll(/\bfrom ["'](.*)["']|\bimport\(/g)];
    expect(imported.map(([, name]) => name)).toEqual(['./client.js']);
  });
});

it('console/page/console.html has no script, style or handler in it', () => {
  const page = readText('console/page/console.html');
  expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
  expect([...page.matchAll(/<script[^>]*>([^<]*)<\/script>/g)].map(([, code]) => code)).toEqual(['']);
});
