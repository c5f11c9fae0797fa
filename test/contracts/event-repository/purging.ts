import { expect } from 'vitest';
import { NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { atBoth } from '../two-instances.ts';
import { type GivenEvents, listAll, series } from './store.ts';

export const purging = ({ it }: Tests<GivenEvents>): void => {
  it('purges events from before a time, at most as many as it is asked to, the oldest first', async (given) => {
    const { repository, owner, otherUser } = given;
    const events = [...series(owner, 6), ...series(otherUser, 6)];
    // Not in the order of their ids.
    await repository.add(events.toReversed());
    const left = async () =>
      [...(await listAll(repository, owner)), ...(await listAll(repository, otherUser))].map(({ at }) => at - NOW);
    expect(await repository.purge(NOW + 4, 3)).toBe(3);
    expect((await left()).filter((age) => age === 0)).toEqual([]);
    expect((await left()).filter((age) => age > 1)).toHaveLength(8);
    expect([await repository.purge(NOW + 4, 100), await repository.purge(NOW + 4, 100)]).toEqual([5, 0]);
    expect(await left()).toEqual([5, 4, 5, 4]);
  });

  it('purges each event once when two instances purge', async ({ repository, owner, hook }) => {
    const another = await hook('another')();
    await repository.add(series(owner, 60));
    const purged = await atBoth(another, repository, (events) =>
      Promise.all(Array.from({ length: 4 }, () => events.purge(NOW + 1_000, 5))),
    );
    const rest = await repository.purge(NOW + 1_000, 1_000);
    expect(purged.flat().reduce((sum, count) => sum + count, rest)).toBe(60);
    expect(Math.max(...purged.flat())).toBeLessThanOrEqual(5);
  });
};
