import { expect } from 'vitest';
import type { UsedValues } from '../../src/application/ports/used-values.ts';
import { anId, NOW } from '../support/builders.ts';
import { expectTranslated, rejection } from './hooks.ts';
import { givenRecords, type RecordsStore } from './records/store.ts';
import { prepared, vitestSuite } from './suite.ts';
import { atBoth, untilClose } from './two-instances.ts';

const RACERS = 40;

/** Registers the tests of every promise of the port for one adapter. */
export const describeUsedValues = (
  name: string,
  make: () => Promise<RecordsStore<UsedValues>>,
  suite = vitestSuite,
): void => {
  const { it } = prepared(suite, async (run) => {
    const given = await givenRecords(make, run);
    return { given, close: async () => given.store.close?.() };
  });
  suite.describe(`${name} as UsedValues`, () => {
    it('says of the first use of a value that it is the first, and of no other', async (given) => {
      const { repository, anotherIfAny } = given;
      const another = await anotherIfAny();
      for (const id of ['value', 'Value', 'value ', `challenge ${'x'.repeat(180)}`, `challenge ${'x'.repeat(179)}y`]) {
        expect(await repository.use(id, NOW)).toBe(true);
        expect([await repository.use(id, NOW), await another.use(id, NOW + 1)]).toEqual([false, false]);
      }
    });

    it('says so to exactly one of many concurrent users of a value', async ({ repository }) => {
      const uses = await Promise.all(Array.from({ length: RACERS }, () => repository.use('value', NOW)));
      expect(uses.filter((isFirst) => isFirst)).toHaveLength(1);
    });

    it('says so to exactly one of two instances that use a value', async ({ repository, hook }) => {
      const another = await hook('another')();
      await untilClose(async () => {
        const ids = Array.from({ length: 10 }, anId);
        const [theirs, ours] = await atBoth(another, repository, (instance) =>
          Promise.all(ids.map((id) => instance.use(id, NOW))),
        );
        for (const at of ids.keys()) expect([theirs[at], ours[at]].sort()).toEqual([false, true]);
        return theirs;
      });
    });

    it('purges expired values, and only those', async ({ repository }) => {
      for (const at of [0, 1, 2, 3, 4]) await repository.use(`expired ${at}`, NOW - at);
      await repository.use('live', NOW + 1);
      const purged = [];
      for (let round = 0; round < 4; round += 1) purged.push(await repository.purge(NOW, 2));
      expect(purged).toEqual([2, 2, 1, 0]);
      expect([await repository.use('expired 0', NOW), await repository.use('live', NOW)]).toEqual([true, false]);
    });

    it('rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored', async (given) => {
      const { repository, hook } = given;
      await repository.use('a value that is stored', NOW);
      const failing = await hook('failing')();
      for (const call of [() => failing.use('a value that is stored', NOW), () => failing.purge(NOW, 1)])
        expectTranslated(await rejection(call()), ['a value that is stored']);
      expect(await repository.use('a value that is stored', NOW)).toBe(false);
    });
  });
};
