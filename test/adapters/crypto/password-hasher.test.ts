// Proves SPEC 16.1, 16.6
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import bcrypt from 'bcrypt';
import { describe, expect, it, vi } from 'vitest';
import compare from '../../../src/adapters/crypto/hashing-thread.ts';
import { hashingThreads, passwordHasher } from '../../../src/adapters/crypto/password-hasher.ts';
import { describePasswordHasher } from '../../contracts/password-hasher.contract.ts';
import { plainPasswordHasher } from '../../support/fakes.ts';
import { watchedThreads } from '../../support/watched-threads.ts';

/** The lowest cost of bcrypt. */
const COST = 4;

describePasswordHasher('passwordHasher', (steps = 0) => {
  const { run, tasks } = watchedThreads();
  return {
    hasher: passwordHasher({ cost: COST + steps, runner: { ...hashingThreads(), run } }),
    comparisons: () => tasks.filter((task) => 'dummies' in task).length,
  };
});
describePasswordHasher('plainPasswordHasher', (steps = 0) => {
  const hasher = plainPasswordHasher(10 + steps);
  return { hasher, comparisons: hasher.comparisons };
});

describe('passwordHasher with bcrypt', () => {
  it('hashes at cost 10 by default', async () => {
    expect(await passwordHasher().hash('a password')).toMatch(/^\$2b\$10\$[./A-Za-z0-9]{53}$/);
    expect(await passwordHasher({ cost: 5 }).hash('a password')).toMatch(/^\$2b\$05\$/);
  });

  it.each([4, 10])('compares against a hash of the same cost when there is none: %i', async (cost) => {
    const { run, tasks } = watchedThreads();
    await passwordHasher({ cost, runner: { ...hashingThreads(), run } }).verify('a password', null);
    const [hash = expect.unreachable()] = tasks.flatMap((task) => ('dummies' in task ? task.dummies : []));
    expect(hash).toHaveLength(60);
    expect(bcrypt.getRounds(hash)).toBe(cost);
    expect(await bcrypt.hash('a password', hash)).toMatch(hash.slice(0, 28));
  });

  it('computes no more hashes at once than its width', async () => {
    const { run, load } = watchedThreads();
    const hasher = passwordHasher({ cost: COST, runner: { width: 2, run } });
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
      import { hashingThreads } from '${new URL('../../../src/adapters/crypto/password-hasher.ts', import.meta.url)}';
      console.log(await hashingThreads().run({ password: 'a password', scheme: 'bcrypt', cost: ${COST} }));
    `;
    const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect([status, stdout.trim().length]).toEqual([0, 60]);
  });

  it.runIf(process.platform === 'linux')('computes in threads of a lower priority than the others', async () => {
    await hashingThreads().run({ password: 'a password', scheme: 'bcrypt', cost: COST });
    const niceness = readdirSync('/proc/self/task').map((id) => getPriority(Number(id)));
    const own = getPriority();
    expect(niceness.filter((value) => value > own).length).toBeGreaterThan(0);
  });
});

describe('passwordHasher with argon2id', () => {
  const watched = watchedThreads();
  const argon2id = passwordHasher({
    scheme: 'argon2id',
    cost: COST,
    runner: { ...hashingThreads(), run: watched.run },
  });
  const bcrypt4 = passwordHasher({ cost: COST });
  const LONG = 'a long password '.repeat(60);

  it('hashes with 19 MiB and two passes, in the PHC string format, each time with another salt', async () => {
    const [hash, other] = [await argon2id.hash('a password'), await argon2id.hash('a password')];
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(other).not.toBe(hash);
    expect(await argon2id.verify('a password', hash)).toBe(true);
    expect(await argon2id.verify('A password', hash)).toBe(false);
  });

  it('uses all of a password', async () => {
    const hash = await argon2id.hash(LONG);
    expect(await argon2id.verify(LONG, hash)).toBe(true);
    expect(await argon2id.verify(`${LONG.slice(0, -1)}!`, hash)).toBe(false);
    await expect(argon2id.hash('x'.repeat(1_025))).rejects.toThrow(RangeError);
  });

  it('compares with the hashes of bcrypt from before, and asks for others', async () => {
    const before = await bcrypt4.hash('a password');
    expect(await argon2id.verify('a password', before)).toBe(true);
    expect(await argon2id.verify(`${'x'.repeat(72)}y`, await bcrypt4.hash('x'.repeat(72)))).toBe(false);
    expect([argon2id.needsRehash(before), argon2id.needsRehash(await argon2id.hash('a password'))]).toEqual([
      true,
      false,
    ]);
  });

  it('compares a wrong password with a hash of each scheme, and an unknown account as well', async () => {
    watched.tasks.length = 0;
    await argon2id.verify('wrong', await bcrypt4.hash('a password'));
    await argon2id.verify('wrong', null);
    const dummies = watched.tasks.map((task) => ('dummies' in task ? task.dummies : []));
    for (const each of dummies)
      expect(each).toEqual([expect.stringMatching(/^\$argon2id/), expect.stringMatching(/^\$2b\$04/)]);
    expect(dummies).toHaveLength(2);
  });

  it('compares a right password with as many as a wrong one, where a log-in hides which it was', async () => {
    watched.tasks.length = 0;
    const hash = await argon2id.hash('a password');
    for (const password of ['a password', 'wrong']) await argon2id.verify(password, hash, true);
    const compared = vi.spyOn(bcrypt, 'compareSync');
    const answers = watched.tasks.flatMap((task) => ('dummies' in task ? [compare(task)] : []));
    expect([answers, compared.mock.calls.length]).toEqual([[true, false], 2]);
  });
});
