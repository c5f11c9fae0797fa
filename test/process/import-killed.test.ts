import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { countRows } from '../../src/infrastructure/data/databases.ts';
import { runThere, spawnCommand } from '../support/processes/commands.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();
afterAll(directory.remove);

const KILLS = 3;
const USERS = 4_000;
/** What is stored in one transaction. */
const BATCH = 500;

const lines = Array.from({ length: USERS }, (_, at) => {
  const identities = [{ issuer: 'https://idp.example', subject: `${at}` }];
  const user = {
    id: `old-${at}`,
    email: `User${at}@example.org`,
    identities,
    factors: [{ secret: 'JBSWY3DPEHPK3PXP' }],
  };
  return `${JSON.stringify(user)}\n`;
});

it('an import that is killed at any line goes on when it is run again, and stores nobody twice', async () => {
  const env = { DATA_DIR: directory.path, BCRYPT_COST: '4' };
  const [database, pipe, file, map] = ['database.sqlite', 'pipe', 'users.ndjson', 'map.ndjson'].map((name) =>
    join(directory.path, name),
  ) as [string, string, string, string];
  const stored = () => {
    const { users, identities, factors } = countRows(database, '');
    return [users, identities, factors];
  };
  expect((await runThere(['migrate'], env)).status).toBe(0);
  execFileSync('/usr/bin/mkfifo', [pipe]);
  const counts: unknown[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { child, outcome } = spawnCommand(['users', 'import', pipe, '--yes', '--map', map], env);
    const input = createWriteStream(pipe).on('error', () => undefined);
    const last = 1 + Math.floor(Math.random() * USERS);
    await Promise.race([new Promise((resolve) => input.write(lines.slice(0, last).join(''), resolve)), outcome]);
    child.kill('SIGKILL');
    expect(await outcome).toMatchObject({ signal: 'SIGKILL' });
    input.destroy();
    await once(input, 'close');
    const [users, ...others] = stored();
    expect(Number(users) % BATCH).toBe(0);
    expect(others).toEqual([users, users]);
    counts.push(users);
  }
  expect(counts).toEqual(counts.toSorted((a, b) => Number(a) - Number(b)));
  expect(counts.at(-1)).toBeGreaterThan(0);
  writeFileSync(file, lines.join(''));
  const { status, stdout } = await runThere(['users', 'import', file, '--yes', '--map', map], env);
  expect([status, stdout]).toEqual([
    0,
    `${USERS - Number(counts.at(-1))} in, ${counts.at(-1)} already in, 0 refused, 0 left out`,
  ]);
  expect(stored()).toEqual([USERS, USERS, USERS]);
  const mapped = readFileSync(map, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(mapped.map((ids) => ids.old)).toEqual(Array.from({ length: USERS }, (_, at) => `old-${at}`));
  expect(new Set(mapped.map((ids) => ids.new)).size).toBe(USERS);
});
