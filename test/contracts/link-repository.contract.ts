import { expect } from 'vitest';
import type { LinkRepository } from '../../src/application/ports/link-repository.ts';
import { LINK_PURPOSES, type Link, type LinkPurpose } from '../../src/domain/link.ts';
import { aLink, anId, NOW } from '../support/builders.ts';
import { expectTranslated, rejection } from './hooks.ts';
import { type GivenRecords, givenRecords, type RecordsStore } from './records/store.ts';
import { prepared, type Tests, vitestSuite } from './suite.ts';
import { atBoth, untilClose } from './two-instances.ts';

export type LinkStore = RecordsStore<LinkRepository>;
type Given = GivenRecords<LinkRepository>;

const RACERS = 40;
const other = (purpose: LinkPurpose): LinkPurpose => LINK_PURPOSES.find((each) => each !== purpose) ?? purpose;

const finding = ({ it }: Tests<Given>): void => {
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

  it('replaces the link of the same user and purpose', async ({ repository, owner, otherUser }) => {
    const [older, newer] = [aLink({ userId: owner }), aLink({ userId: owner, email: 'new@example.org' })];
    const [another, ofOther] = [aLink({ userId: owner, purpose: other(older.purpose) }), aLink({ userId: otherUser })];
    for (const link of [older, another, ofOther, newer]) await repository.put(link);
    expect(await repository.find(older.purpose, older.tokenHash, NOW)).toBeNull();
    expect(await repository.take(older.purpose, older.tokenHash, NOW)).toBeNull();
    for (const link of [newer, another, ofOther]) {
      expect(await repository.find(link.purpose, link.tokenHash, NOW)).toStrictEqual(link);
    }
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

const taking = ({ it }: Tests<Given>): void => {
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

const removing = ({ it }: Tests<Given>): void => {
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
    expect(purged).toEqual([2, 2, 1, 0]);
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

const PARTS = { finding, taking, removing };

/**
 * Registers the tests of every promise of the port for one adapter.
 * @param make makes an empty store and the adapter over it, for each test anew.
 */
export const describeLinkRepository = (name: string, make: () => Promise<LinkStore>, suite = vitestSuite): void => {
  const tests = prepared(suite, async (run) => {
    const given = await givenRecords(make, run);
    return { given, close: async () => given.store.close?.() };
  });
  suite.describe(`${name} as a LinkRepository`, () => {
    for (const [behavior, part] of Object.entries(PARTS)) tests.describe(behavior, () => part(tests));
  });
};
