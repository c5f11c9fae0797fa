import { expect } from 'vitest';
import { LINK_PURPOSES } from '../../../src/domain/link.ts';
import { aLink, anId, NOW } from '../../support/builders.ts';
import { expectTranslated, rejection } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import type { GivenLinks } from './store.ts';

export const removing = ({ it }: Tests<GivenLinks>): void => {
  it('removes the links of a user, or those of some purposes', async ({ repository, owner, otherUser, stranger }) => {
    const put = () =>
      Promise.all(
        [owner, otherUser].flatMap((userId) =>
          LINK_PURPOSES.map((purpose) => repository.put(aLink({ userId, purpose }))),
        ),
      );
    const left = async (userId: string) => (await repository.listByUser(userId, NOW)).map(({ purpose }) => purpose);
    await put();
    await repository.removeOfUser(owner, []);
    for (const id of [stranger, '', '\0']) await repository.removeOfUser(id, LINK_PURPOSES);
    expect((await left(owner)).sort()).toEqual([...LINK_PURPOSES].sort());
    const [first, second, ...others] = LINK_PURPOSES;
    await repository.removeOfUser(owner, [first, second]);
    expect((await left(owner)).sort()).toEqual(others.sort());
    await repository.removeOfUser(owner, LINK_PURPOSES);
    expect(await left(owner)).toEqual([]);
    expect(await left(otherUser)).toHaveLength(LINK_PURPOSES.length);
  });

  it('purges expired links, and only those', async ({ repository, owner, otherUser }) => {
    const expired = LINK_PURPOSES.map((purpose, at) => aLink({ userId: owner, purpose, expiresAt: NOW + 100 - at }));
    const live = aLink({ userId: otherUser, expiresAt: NOW + 101 });
    for (const link of [...expired, live]) await repository.put(link);
    const purged = [];
    for (let round = 0; round < 4; round += 1) purged.push(await repository.purge(NOW + 100, 2));
    expect(purged).toEqual([2, 2, 2, 0]);
    expect(await repository.listByUser(owner, 0)).toEqual([]);
    expect(await repository.listByUser(otherUser, NOW)).toStrictEqual([live]);
  });

  it('loses the links of a user who is deleted', async ({ repository, store, owner, otherUser }) => {
    const [link, ofOther] = [aLink({ userId: owner }), aLink({ userId: otherUser })];
    for (const each of [link, ofOther]) await repository.put(each);
    await store.deleteUser(owner);
    expect(await repository.find(link.purpose, link.tokenHash, NOW)).toBeNull();
    expect(await repository.take(link.purpose, link.tokenHash, NOW)).toBeNull();
    expect(await repository.find(ofOther.purpose, ofOther.tokenHash, NOW)).toStrictEqual(ofOther);
  });

  it('rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored', async (given) => {
    const { repository, owner, hook } = given;
    const link = aLink({ userId: owner });
    await repository.put(link);
    const { purpose, tokenHash } = link;
    const failing = await hook('failing')();
    const calls = [
      () => failing.put(link),
      () => failing.find(purpose, tokenHash, NOW),
      () => failing.take(purpose, tokenHash, NOW),
      () => failing.removeOfUser(owner, [purpose]),
      () => failing.listByUser(owner, NOW),
      () => failing.listByEmail(purpose, link.email, NOW),
      () => failing.purge(NOW, 1),
    ];
    for (const call of calls) expectTranslated(await rejection(call()), [owner, tokenHash, link.email, anId()]);
    expect(await repository.find(purpose, tokenHash, NOW)).toStrictEqual(link);
  });
};
