import { expect } from 'vitest';
import type { FactorRepository } from '../../src/application/ports/factor-repository.ts';
import type { Factor } from '../../src/domain/second-factor.ts';
import { aFactor, anId, NOW } from '../support/builders.ts';
import { expectTranslated, rejection } from './hooks.ts';
import { type GivenRecords, givenRecords, type RecordsStore } from './records/store.ts';
import { prepared, vitestSuite } from './suite.ts';
import { atBoth, untilClose } from './two-instances.ts';

const RACERS = 40;

const added = async (repository: FactorRepository, given: Partial<Factor>): Promise<Factor> => {
  const factor = aFactor(given);
  await repository.add(factor);
  return factor;
};

const firsts = (uses: readonly boolean[]): number => uses.filter((isFirst) => isFirst).length;

/** Registers the tests of every promise of the port for one adapter. */
export const describeFactorRepository = (
  name: string,
  make: () => Promise<RecordsStore<FactorRepository>>,
  suite = vitestSuite,
): void => {
  const { it } = prepared(suite, async (run) => {
    const given = await givenRecords(make, run);
    return { given, close: async () => given.store.close?.() };
  });
  type Given = GivenRecords<FactorRepository>;

  suite.describe(`${name} as a FactorRepository`, () => {
    it('lists the factors of one user, the oldest first', async ({ repository, owner, otherUser, stranger }: Given) => {
      const factors = [aFactor({ userId: owner, confirmedAt: NOW }), aFactor({ userId: owner, lastStep: 60_000_000 })];
      const sorted = factors.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      for (const factor of sorted.toReversed()) await repository.add(factor);
      const other = await added(repository, { userId: otherUser });
      expect(await repository.listByUser(owner)).toEqual(sorted);
      expect(await repository.listByUser(otherUser)).toEqual([other]);
      expect([await repository.listByUser(stranger), await repository.listByUser('\0')]).toEqual([[], []]);
    });

    it('uses a step of a factor of its user, unless it or a later one was used', async (given) => {
      const { repository, owner, otherUser, anotherIfAny } = given;
      const [factor, second] = [await added(repository, { userId: owner }), await added(repository, { userId: owner })];
      const another = await anotherIfAny();
      expect(await repository.useStep({ id: factor.id, userId: otherUser }, 7, NOW)).toBe(false);
      expect(await repository.useStep({ id: anId(), userId: owner }, 7, NOW)).toBe(false);
      expect([await repository.useStep(factor, 7, NOW), await another.useStep(factor, 7, NOW)]).toEqual([true, false]);
      expect([await another.useStep(factor, 6, NOW), await another.useStep(factor, 8, NOW)]).toEqual([false, true]);
      expect(await repository.useStep(second, 7, NOW)).toBe(true);
    });

    it('confirms a factor with its first step, and remembers when', async ({ repository, owner }) => {
      const [factor, untouched] = [
        await added(repository, { userId: owner }),
        await added(repository, { userId: owner }),
      ];
      await repository.useStep(factor, 7, NOW + 1);
      await repository.useStep(factor, 8, NOW + 2);
      await repository.useStep(factor, 8, NOW + 3);
      const stored = await repository.listByUser(owner);
      expect(stored.find(({ id }) => id === factor.id)).toEqual({ ...factor, lastStep: 8, confirmedAt: NOW + 1 });
      expect(stored.find(({ id }) => id === untouched.id)).toEqual(untouched);
    });

    it('accepts exactly one of many concurrent uses of a step', async ({ repository, owner }) => {
      const factor = await added(repository, { userId: owner });
      const uses = Array.from({ length: RACERS }, () => repository.useStep(factor, 7, NOW));
      expect(firsts(await Promise.all(uses))).toBe(1);
    });

    it('accepts exactly one of two uses of a step by two instances', async ({ repository, owner, hook }) => {
      const another = await hook('another')();
      await untilClose(async () => {
        const factors = await Promise.all(Array.from({ length: 10 }, () => added(repository, { userId: owner })));
        const [theirs, ours] = await atBoth(another, repository, (instance) =>
          Promise.all(factors.map((factor) => instance.useStep(factor, 7, NOW))),
        );
        for (const at of factors.keys()) expect([theirs[at], ours[at]].sort()).toEqual([false, true]);
        return theirs;
      });
    });

    it('removes a factor of its user alone, and says so once', async ({ repository, owner, otherUser }) => {
      const [factor, kept] = [await added(repository, { userId: owner }), await added(repository, { userId: owner })];
      expect(await repository.remove({ id: factor.id, userId: otherUser })).toBe(false);
      expect([await repository.remove(factor), await repository.remove(factor)]).toEqual([true, false]);
      expect(await repository.listByUser(owner)).toEqual([kept]);
    });

    it('replaces the recovery codes of one user, and counts them', async ({ repository, owner, otherUser }) => {
      await repository.replaceCodes(otherUser, ['one']);
      await repository.replaceCodes(owner, ['one', 'two', 'three']);
      await repository.replaceCodes(owner, ['three', 'four']);
      expect([await repository.countCodes(owner), await repository.countCodes(otherUser)]).toEqual([2, 1]);
      expect(await repository.useCode(owner, 'one')).toBe(false);
      await repository.replaceCodes(owner, []);
      expect(await repository.countCodes(owner)).toBe(0);
    });

    it('uses a recovery code of its user once', async ({ repository, owner, otherUser, anotherIfAny }) => {
      await repository.replaceCodes(owner, ['one', 'two']);
      const another = await anotherIfAny();
      expect([await repository.useCode(otherUser, 'one'), await repository.useCode(owner, 'ONE')]).toEqual([
        false,
        false,
      ]);
      expect([await repository.useCode(owner, 'one'), await another.useCode(owner, 'one')]).toEqual([true, false]);
      expect(await another.countCodes(owner)).toBe(1);
    });

    it('accepts exactly one of many concurrent uses of a recovery code', async ({ repository, owner }) => {
      await repository.replaceCodes(owner, ['one']);
      const uses = Array.from({ length: RACERS }, () => repository.useCode(owner, 'one'));
      expect(firsts(await Promise.all(uses))).toBe(1);
    });

    it('accepts exactly one of two uses of a recovery code by two instances', async ({ repository, owner, hook }) => {
      const another = await hook('another')();
      await untilClose(async () => {
        const hashes = Array.from({ length: 10 }, anId);
        await repository.replaceCodes(owner, hashes);
        const [theirs, ours] = await atBoth(another, repository, (instance) =>
          Promise.all(hashes.map((hash) => instance.useCode(owner, hash))),
        );
        for (const at of hashes.keys()) expect([theirs[at], ours[at]].sort()).toEqual([false, true]);
        return theirs;
      });
    });

    it('changes an encrypted secret only if the given one is still stored', async ({
      repository,
      owner,
      otherUser,
    }) => {
      const factor = await added(repository, { userId: owner, secret: 'old' });
      const change = { from: 'old', to: 'new' };
      expect(await repository.changeSecret({ id: factor.id, userId: otherUser }, change)).toBe(false);
      expect([await repository.changeSecret(factor, change), await repository.changeSecret(factor, change)]).toEqual([
        true,
        false,
      ]);
      expect(await repository.listByUser(owner)).toEqual([{ ...factor, secret: 'new' }]);
    });

    it('lists the factors of all users in pages', async ({ repository, owner, otherUser }) => {
      const ids: string[] = [];
      for (const userId of [owner, otherUser, owner]) ids.push((await added(repository, { userId })).id);
      const sorted = ids.toSorted();
      const first = await repository.listAll('', 2);
      const second = await repository.listAll(first.at(-1)?.id ?? '', 2);
      expect([first, second].map((page) => page.map(({ id }) => id))).toEqual([sorted.slice(0, 2), sorted.slice(2)]);
    });

    it('loses the factors and the recovery codes of a user who is deleted', async (given) => {
      const { repository, owner, otherUser, store } = given;
      await added(repository, { userId: owner });
      await repository.replaceCodes(owner, ['one']);
      const kept = await added(repository, { userId: otherUser });
      await store.deleteUser(owner);
      expect([await repository.listByUser(owner), await repository.countCodes(owner)]).toEqual([[], 0]);
      expect(await repository.listByUser(otherUser)).toEqual([kept]);
    });

    it('rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored', async (given) => {
      const { repository, owner, hook } = given;
      const factor = await added(repository, { userId: owner, secret: 'a stored secret' });
      await repository.replaceCodes(owner, ['a stored hash']);
      const failing = await hook('failing')();
      const calls = [
        () => failing.add(factor),
        () => failing.listByUser(owner),
        () => failing.useStep(factor, 7, NOW),
        () => failing.remove(factor),
        () => failing.replaceCodes(owner, ['a stored hash']),
        () => failing.useCode(owner, 'a stored hash'),
        () => failing.countCodes(owner),
        () => failing.changeSecret(factor, { from: 'a stored secret', to: 'another secret' }),
        () => failing.listAll('', 1),
      ];
      for (const call of calls)
        expectTranslated(await rejection(call()), ['a stored secret', 'a stored hash', 'another secret']);
      expect(await repository.listByUser(owner)).toEqual([factor]);
    });
  });
};
