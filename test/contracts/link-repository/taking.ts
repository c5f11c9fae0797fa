import { expect } from 'vitest';
import { LINK_PURPOSES } from '../../../src/domain/link.ts';
import { aLink, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { atBoth, untilClose } from '../two-instances.ts';
import { type GivenLinks, other } from './store.ts';

const RACERS = 40;

export const taking = ({ it }: Tests<GivenLinks>): void => {
  it('takes a link once, also when many take it at the same time', async ({ repository, owner, otherUser }) => {
    const link = aLink({ userId: owner });
    const others = [aLink({ userId: owner, purpose: other(link.purpose) }), aLink({ userId: otherUser })];
    for (const each of [link, ...others]) await repository.put(each);
    const taken = await Promise.all(
      Array.from({ length: RACERS }, () => repository.take(link.purpose, link.tokenHash, NOW)),
    );
    expect(taken.filter((each) => each !== null)).toStrictEqual([link]);
    expect(await repository.find(link.purpose, link.tokenHash, NOW)).toBeNull();
    await repository.put(link);
    expect(await repository.take(link.purpose, link.tokenHash, NOW)).toStrictEqual(link);
    for (const each of others) expect(await repository.find(each.purpose, each.tokenHash, NOW)).toStrictEqual(each);
  });

  it('gives a link to one of two instances that take it', async ({ repository, owner, otherUser, hook }) => {
    const another = await hook('another')();
    await untilClose(async () => {
      const links = [owner, otherUser].flatMap((userId) => LINK_PURPOSES.map((purpose) => aLink({ userId, purpose })));
      for (const link of links) await repository.put(link);
      const [theirs, ours] = await atBoth(another, repository, (instance) =>
        Promise.all(links.map(({ purpose, tokenHash }) => instance.take(purpose, tokenHash, NOW))),
      );
      for (const [at, link] of links.entries()) {
        expect([theirs[at], ours[at]].filter((taken) => taken !== null)).toStrictEqual([link]);
      }
      return theirs.map((taken) => taken !== null);
    });
  });
};
