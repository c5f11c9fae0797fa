import { expect } from 'vitest';
import { LINK_PURPOSES, type Link, type LinkPurpose } from '../../../src/domain/link.ts';
import { aLink, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { type GivenStorage, raced } from './given.ts';

const RACERS = 40;

const other = (purpose: LinkPurpose): LinkPurpose => LINK_PURPOSES.find((each) => each !== purpose) ?? purpose;
const byPurpose = (a: Link, b: Link) => (a.purpose < b.purpose ? -1 : 1);
const byUser = (a: Link, b: Link) => (a.userId < b.userId ? -1 : 1);

export const links = ({ it }: Tests<GivenStorage>): void => {
  it('finds a link by its purpose and its token', async ({ links, owner, otherUser }) => {
    const all = [owner, otherUser].flatMap((userId) => LINK_PURPOSES.map((purpose) => aLink({ userId, purpose })));
    for (const link of all) await links.put(link);
    for (const link of [...all, ...all])
      expect(await links.find(link.purpose, link.tokenHash, NOW)).toStrictEqual(link);
    for (const hash of ['', 'unknown', `${all[0]?.tokenHash} `, all[0]?.tokenHash.toLowerCase() ?? ''])
      expect(await links.find('password-reset', hash, NOW)).toBeNull();
    const own = await links.listByUser(owner, NOW);
    expect(own.toSorted(byPurpose)).toStrictEqual(all.slice(0, LINK_PURPOSES.length).toSorted(byPurpose));
  });

  it('does not find one by the token of another purpose', async ({ links, owner }) => {
    const link = aLink({ userId: owner });
    await links.put(link);
    expect(await links.find(other(link.purpose), link.tokenHash, NOW)).toBeNull();
    expect(await links.take(other(link.purpose), link.tokenHash, NOW)).toBeNull();
    expect(await links.find(link.purpose, link.tokenHash, NOW)).toStrictEqual(link);
  });

  it('replaces the link of the same user and purpose that undoes from the same time on', async (given) => {
    const { links, owner, otherUser } = given;
    const [older, newer] = [aLink({ userId: owner }), aLink({ userId: owner, email: 'new@example.org' })];
    const [another, ofOther] = [aLink({ userId: owner, purpose: other(older.purpose) }), aLink({ userId: otherUser })];
    const undos = [NOW - 1, NOW].map((since) => aLink({ userId: owner, purpose: 'factors-undo', since }));
    for (const link of [older, another, ofOther, newer, ...undos]) await links.put(link);
    expect(await links.find(older.purpose, older.tokenHash, NOW)).toBeNull();
    expect(await links.take(older.purpose, older.tokenHash, NOW)).toBeNull();
    const kept = [newer, another, ...undos];
    for (const link of [...kept, ofOther])
      expect(await links.find(link.purpose, link.tokenHash, NOW)).toStrictEqual(link);
    expect(await links.listByUser(owner, NOW)).toHaveLength(kept.length);
    const again = aLink({ userId: owner, purpose: 'factors-undo', since: NOW });
    await links.put(again);
    expect((await links.listByUser(owner, NOW)).filter(({ since }) => since === NOW)).toStrictEqual([again]);
    expect(await links.take(again.purpose, again.tokenHash, NOW)).toStrictEqual(again);
    expect(await links.listByUser(owner, NOW)).toHaveLength(kept.length - 1);
  });

  it('takes a link once, also when many take it at the same time', async (given) => {
    const { links, another, owner, otherUser } = given;
    const link = aLink({ userId: owner });
    const others = [aLink({ userId: owner, purpose: other(link.purpose) }), aLink({ userId: otherUser })];
    for (const each of [link, ...others]) await links.put(each);
    const take = (instance: typeof links) => instance.take(link.purpose, link.tokenHash, NOW);
    const taken = await raced([links, another.links], RACERS, take);
    expect(taken.filter((each) => each !== null)).toStrictEqual([link]);
    expect(await links.find(link.purpose, link.tokenHash, NOW)).toBeNull();
    await links.put(link);
    expect(await take(links)).toStrictEqual(link);
    for (const each of others) expect(await links.find(each.purpose, each.tokenHash, NOW)).toStrictEqual(each);
  });

  it('finds the live links of a purpose that are about an address', async ({ links, owner, otherUser }) => {
    const email = 'given.up@example.org';
    const purpose = 'email-change-undo';
    const about = [owner, otherUser].map((userId) => aLink({ userId, purpose, email, expiresAt: NOW + 1_000 }));
    const others = [
      aLink({ userId: owner, purpose: other(purpose), email }),
      aLink({ userId: otherUser, purpose: other(purpose), email: 'other@example.org' }),
    ];
    for (const link of [...about, ...others]) await links.put(link);
    const found = async (now: number) => (await links.listByEmail(purpose, email, now)).toSorted(byUser);
    for (const live of [NOW, NOW + 999]) expect(await found(live)).toStrictEqual(about.toSorted(byUser));
    expect(await found(NOW + 1_000)).toEqual([]);
    for (const unknown of ['', 'nobody@example.org', 'other@example.org'])
      expect(await links.listByEmail(purpose, unknown, NOW)).toEqual([]);
    await links.put(aLink({ userId: owner, purpose, email: 'another@example.org' }));
    expect(await links.listByEmail(purpose, email, NOW)).toStrictEqual([about[1]]);
  });

  it('neither finds nor takes a link that has expired', async ({ links, owner }) => {
    const link = aLink({ userId: owner, expiresAt: NOW + 1_000 });
    await links.put(link);
    for (const late of [NOW + 1_000, NOW + 1_001]) {
      expect(await links.find(link.purpose, link.tokenHash, late)).toBeNull();
      expect(await links.take(link.purpose, link.tokenHash, late)).toBeNull();
      expect(await links.listByUser(owner, late)).toEqual([]);
    }
    expect(await links.find(link.purpose, link.tokenHash, NOW + 999)).toStrictEqual(link);
    expect(await links.take(link.purpose, link.tokenHash, NOW + 999)).toStrictEqual(link);
  });

  it('removes the links of a user, or those of some purposes', async ({ links, owner, otherUser, stranger }) => {
    for (const userId of [owner, otherUser])
      for (const purpose of LINK_PURPOSES) await links.put(aLink({ userId, purpose }));
    const left = async (userId: string) => (await links.listByUser(userId, NOW)).map(({ purpose }) => purpose);
    await links.removeOfUser(owner, []);
    for (const id of [stranger, '', '\0']) await links.removeOfUser(id, LINK_PURPOSES);
    expect((await left(owner)).sort()).toEqual([...LINK_PURPOSES].sort());
    const [first, second, ...others] = LINK_PURPOSES;
    await links.removeOfUser(owner, [first, second]);
    expect((await left(owner)).sort()).toEqual(others.sort());
    await links.removeOfUser(owner, LINK_PURPOSES);
    expect(await left(owner)).toEqual([]);
    expect(await left(otherUser)).toHaveLength(LINK_PURPOSES.length);
  });

  it('purges expired links, and only those', async ({ links, owner, otherUser }) => {
    const purposes = LINK_PURPOSES.slice(0, 6);
    const expired = purposes.map((purpose, at) => aLink({ userId: owner, purpose, expiresAt: NOW + 100 - at }));
    const live = aLink({ userId: otherUser, expiresAt: NOW + 101 });
    for (const link of [...expired, live]) await links.put(link);
    const purged = [];
    for (let round = 0; round < 4; round += 1) purged.push(await links.purge(NOW + 100, 2));
    expect(purged).toEqual([2, 2, 2, 0]);
    expect(await links.listByUser(owner, 0)).toEqual([]);
    expect(await links.listByUser(otherUser, NOW)).toStrictEqual([live]);
  });
};

export const used = ({ it }: Tests<GivenStorage>): void => {
  it('says of the first use of a value that it is the first, and of no other', async ({ used, another }) => {
    for (const id of ['value', 'Value', 'value ', `challenge ${'x'.repeat(180)}`, `challenge ${'x'.repeat(179)}y`]) {
      expect(await used.use(id, NOW)).toBe(true);
      expect([await used.use(id, NOW), await another.used.use(id, NOW + 1)]).toEqual([false, false]);
    }
  });

  it('says so to exactly one of many concurrent users of a value', async ({ used, another }) => {
    const uses = await raced([used, another.used], RACERS, (instance) => instance.use('value', NOW));
    expect(uses.filter((isFirst) => isFirst)).toHaveLength(1);
  });

  it('purges expired values, and only those', async ({ used }) => {
    for (const at of [0, 1, 2, 3, 4]) await used.use(`expired ${at}`, NOW - at);
    await used.use('live', NOW + 1);
    const purged = [];
    for (let round = 0; round < 4; round += 1) purged.push(await used.purge(NOW, 2));
    expect(purged).toEqual([2, 2, 1, 0]);
    expect([await used.use('expired 0', NOW), await used.use('live', NOW)]).toEqual([true, false]);
  });
};
