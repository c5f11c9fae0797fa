import { expect } from 'vitest';
import { LINK_PURPOSES, type Link } from '../../../src/domain/link.ts';
import { aLink, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { type GivenLinks, other } from './store.ts';

export const finding = ({ it }: Tests<GivenLinks>): void => {
  it('finds a link by its purpose and its token', async ({ repository, owner, otherUser }) => {
    const links = [owner, otherUser].flatMap((userId) => LINK_PURPOSES.map((purpose) => aLink({ userId, purpose })));
    for (const link of links) await repository.put(link);
    for (const link of links) {
      const found = await repository.find(link.purpose, link.tokenHash, NOW);
      expect(found).toStrictEqual(link);
      Object.assign(found ?? {}, { email: 'mallory@example.org' });
      // Finding consumes nothing.
      expect(await repository.find(link.purpose, link.tokenHash, NOW)).toStrictEqual(link);
    }
    for (const hash of ['', 'unknown', `${links[0]?.tokenHash} `, links[0]?.tokenHash.toLowerCase() ?? '']) {
      expect(await repository.find('password-reset', hash, NOW)).toBeNull();
    }
    const own = await repository.listByUser(owner, NOW);
    const byPurpose = (a: { purpose: string }, b: { purpose: string }) => (a.purpose < b.purpose ? -1 : 1);
    expect(own.toSorted(byPurpose)).toStrictEqual(links.slice(0, LINK_PURPOSES.length).toSorted(byPurpose));
  });

  it('does not find one by the token of another purpose', async ({ repository, owner }) => {
    const link = aLink({ userId: owner });
    await repository.put(link);
    expect(await repository.find(other(link.purpose), link.tokenHash, NOW)).toBeNull();
    expect(await repository.take(other(link.purpose), link.tokenHash, NOW)).toBeNull();
    expect(await repository.find(link.purpose, link.tokenHash, NOW)).toStrictEqual(link);
  });

  it('replaces the link of the same user and purpose that undoes from the same time on', async (given) => {
    const { repository, owner, otherUser } = given;
    const [older, newer] = [aLink({ userId: owner }), aLink({ userId: owner, email: 'new@example.org' })];
    const [another, ofOther] = [aLink({ userId: owner, purpose: other(older.purpose) }), aLink({ userId: otherUser })];
    const undos = [NOW - 1, NOW].map((since) => aLink({ userId: owner, purpose: 'factors-undo', since }));
    for (const link of [older, another, ofOther, newer, ...undos]) await repository.put(link);
    expect(await repository.find(older.purpose, older.tokenHash, NOW)).toBeNull();
    expect(await repository.take(older.purpose, older.tokenHash, NOW)).toBeNull();
    const kept = [newer, another, ...undos];
    for (const link of [...kept, ofOther]) {
      expect(await repository.find(link.purpose, link.tokenHash, NOW)).toStrictEqual(link);
    }
    expect(await repository.listByUser(owner, NOW)).toHaveLength(kept.length);
    const again = aLink({ userId: owner, purpose: 'factors-undo', since: NOW });
    await repository.put(again);
    expect((await repository.listByUser(owner, NOW)).filter(({ since }) => since === NOW)).toStrictEqual([again]);
    expect(await repository.take(again.purpose, again.tokenHash, NOW)).toStrictEqual(again);
    expect(await repository.listByUser(owner, NOW)).toHaveLength(kept.length - 1);
  });

  it('finds the live links of a purpose that are about an address', async (given) => {
    const { repository, owner, otherUser } = given;
    const email = 'given.up@example.org';
    const purpose = 'email-change-undo';
    const about = [owner, otherUser].map((userId) => aLink({ userId, purpose, email, expiresAt: NOW + 1_000 }));
    const others = [
      aLink({ userId: owner, purpose: other(purpose), email }),
      aLink({ userId: otherUser, purpose: other(purpose), email: 'other@example.org' }),
    ];
    for (const link of [...about, ...others]) await repository.put(link);
    const byUser = (a: Link, b: Link) => (a.userId < b.userId ? -1 : 1);
    const found = async (now: number) => (await repository.listByEmail(purpose, email, now)).toSorted(byUser);
    expect(await found(NOW)).toStrictEqual(about.toSorted(byUser));
    const [returned] = await found(NOW + 999);
    Object.assign(returned ?? {}, { email: 'mallory@example.org' });
    expect(await found(NOW + 999)).toStrictEqual(about.toSorted(byUser));
    expect(await found(NOW + 1_000)).toEqual([]);
    for (const unknown of ['', 'nobody@example.org', 'other@example.org'])
      expect(await repository.listByEmail(purpose, unknown, NOW)).toEqual([]);
    await repository.put(aLink({ userId: owner, purpose, email: 'another@example.org' }));
    expect(await repository.listByEmail(purpose, email, NOW)).toStrictEqual([about[1]]);
  });

  it('neither finds nor takes a link that has expired', async ({ repository, owner }) => {
    const link = aLink({ userId: owner, expiresAt: NOW + 1_000 });
    await repository.put(link);
    for (const late of [NOW + 1_000, NOW + 1_001]) {
      expect(await repository.find(link.purpose, link.tokenHash, late)).toBeNull();
      expect(await repository.take(link.purpose, link.tokenHash, late)).toBeNull();
      expect(await repository.listByUser(owner, late)).toEqual([]);
    }
    expect(await repository.find(link.purpose, link.tokenHash, NOW + 999)).toStrictEqual(link);
    expect(await repository.take(link.purpose, link.tokenHash, NOW + 999)).toStrictEqual(link);
  });
};
