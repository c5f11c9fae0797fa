import bcrypt from 'bcrypt';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { bcryptPasswordHasher } from '../../src/adapters/password-hasher/bcrypt.ts';
import { describePasswordHasher } from '../contracts/password-hasher.contract.ts';
import { plainPasswordHasher } from '../support/fakes.ts';

/** The lowest cost of bcrypt. */
const COST = 4;

afterEach(() => {
  vi.restoreAllMocks();
});

describePasswordHasher('bcryptPasswordHasher', (steps = 0) => {
  const compare = vi.spyOn(bcrypt, 'compare');
  return { hasher: bcryptPasswordHasher({ cost: COST + steps }), comparisons: () => compare.mock.calls.length };
});
describePasswordHasher('plainPasswordHasher', (steps = 0) => {
  const hasher = plainPasswordHasher(10 + steps);
  return { hasher, comparisons: hasher.comparisons };
});

describe('bcryptPasswordHasher', () => {
  // Proves: password-1, constant-7
  it('hashes at cost 10 by default', async () => {
    expect(await bcryptPasswordHasher().hash('a password')).toMatch(/^\$2b\$10\$[./A-Za-z0-9]{53}$/);
    expect(await bcryptPasswordHasher({ cost: 5 }).hash('a password')).toMatch(/^\$2b\$05\$/);
  });

  it.each([4, 10])('compares against a hash of the same cost when there is none: %i', async (cost) => {
    const compare = vi.spyOn(bcrypt, 'compare');
    await bcryptPasswordHasher({ cost }).verify('a password', null);
    const hash = compare.mock.calls[0]?.[1] ?? '';
    expect(hash).toHaveLength(60);
    expect(bcrypt.getRounds(hash)).toBe(cost);
    expect(await bcrypt.hash('a password', hash)).toMatch(hash.slice(0, 28));
  });

  // Proves: password-6
  it('computes no more hashes at once than its width', async () => {
    let running = 0;
    let most = 0;
    const watched =
      <Arguments extends unknown[], Result>(work: (...given: Arguments) => Promise<Result>) =>
      async (...given: Arguments) => {
        running += 1;
        most = Math.max(most, running);
        return work(...given).finally(() => {
          running -= 1;
        });
      };
    const { hash, compare } = bcrypt;
    // The casts restore the overloads with a callback, which the adapter does not use.
    vi.spyOn(bcrypt, 'hash').mockImplementation(watched(hash) as typeof bcrypt.hash);
    vi.spyOn(bcrypt, 'compare').mockImplementation(watched(compare) as typeof bcrypt.compare);

    const hasher = bcryptPasswordHasher({ cost: COST, width: 2 });
    const given = await hasher.hash('a password');
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, index) =>
        index % 2 === 0 ? hasher.verify('a password', given) : hasher.hash('a password'),
      ),
    );
    expect(answers).toHaveLength(10);
    expect(most).toBe(2);
  });
});
