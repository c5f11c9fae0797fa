// Proves SPEC 16.1, 16.6, 23.7
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import bcrypt from 'bcrypt';
import { describe, expect, it } from 'vitest';
import { bcryptPasswordHasher, hashingThreads } from '../../../src/adapters/crypto/bcrypt.ts';
import { describePasswordHasher } from '../../contracts/password-hasher.contract.ts';
import { plainPasswordHasher } from '../../support/fakes.ts';
import { watchedThreads } from '../../support/watched-threads.ts';

/** The lowest cost of bcrypt. */
const COST = 4;

describePasswordHasher('bcryptPasswordHasher', (steps = 0) => {
  const { run, tasks } = watchedThreads();
  return {
    hasher: bcryptPasswordHasher({ cost: COST + steps, runner: { ...hashingThreads(), run } }),
    comparisons: () => tasks.filter((task) => 'hash' in task).length,
  };
});
describePasswordHasher('plainPasswordHasher', (steps = 0) => {
  const hasher = plainPasswordHasher(10 + steps);
  return { hasher, comparisons: hasher.comparisons };
});

describe('bcryptPasswordHasher', () => {
  it('hashes at cost 10 by default', async () => {
    expect(await bcryptPasswordHasher().hash('a password')).toMatch(/^\$2b\$10\$[./A-Za-z0-9]{53}$/);
    expect(await bcryptPasswordHasher({ cost: 5 }).hash('a password')).toMatch(/^\$2b\$05\$/);
  });

  it.each([4, 10])('compares against a hash of the same cost when there is none: %i', async (cost) => {
    const { run, tasks } = watchedThreads();
    await bcryptPasswordHasher({ cost, runner: { ...hashingThreads(), run } }).verify('a password', null);
    const [hash = expect.unreachable()] = tasks.map((task) => ('hash' in task ? task.hash : ''));
    expect(hash).toHaveLength(60);
    expect(bcrypt.getRounds(hash)).toBe(cost);
    expect(await bcrypt.hash('a password', hash)).toMatch(hash.slice(0, 28));
  });

  it('computes no more hashes at once than its width', async () => {
    const { run, load } = watchedThreads();
    const hasher = bcryptPasswordHasher({ cost: COST, runner: { width: 2, run } });
    const given = await hasher.hash('a password');
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, index) =>
        index % 2 === 0 ? hasher.verify('a password', given) : hasher.hash('a password'),
      ),
    );
    expect(answers).toHaveLength(10);
    expect(load.most).toBe(2);
  });

  it('does not keep the process alive', () => {
    const script = `
      import { hashingThreads } from '${new URL('../../../src/adapters/crypto/bcrypt.ts', import.meta.url)}';
      console.log(await hashingThreads().run({ password: 'a password', cost: ${COST} }));
    `;
    const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect([status, stdout.trim().length]).toEqual([0, 60]);
  });

  it.runIf(process.platform === 'linux')('computes in threads of a lower priority than the others', async () => {
    await hashingThreads().run({ password: 'a password', cost: COST });
    const niceness = readdirSync('/proc/self/task').map((id) => getPriority(Number(id)));
    const own = getPriority();
    expect(niceness.filter((value) => value > own).length).toBeGreaterThan(0);
  });
});
