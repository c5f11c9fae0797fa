import { describe, expect, it } from 'vitest';
import {
  deleteLinks,
  findInvitation,
  linkByToken,
  linksAbout,
  linksOf,
  listInvitations,
  putInvitation,
  putLink,
  takeInvitation,
  takeLink,
  useOnce,
} from '../../../src/application/storage/credentials.ts';
import { LINK_PURPOSES, type LinkPurpose } from '../../../src/domain/link.ts';
import { aLink, anInvitation, NOW } from '../../support/builders.ts';
import { storageOfTwo } from '../../support/storage/two-users.ts';

const other = (purpose: LinkPurpose): LinkPurpose => LINK_PURPOSES.find((each) => each !== purpose) ?? purpose;

describe('links', () => {
  it('are found and taken by their purpose and their token', async () => {
    const { records, owner, otherUser } = await storageOfTwo();
    const all = [owner, otherUser].flatMap((userId) => LINK_PURPOSES.map((purpose) => aLink({ userId, purpose })));
    for (const link of all) await putLink(records, link);
    for (const { purpose, tokenHash } of all) {
      for (const hash of ['', 'unknown', `${tokenHash} `, tokenHash.toLowerCase()])
        expect(await linkByToken(records, purpose, hash, NOW)).toBeNull();
      expect(await takeLink(records, other(purpose), tokenHash, NOW)).toBeNull();
    }
    for (const link of all) {
      expect(await linkByToken(records, link.purpose, link.tokenHash, NOW)).toStrictEqual(link);
      expect(await takeLink(records, link.purpose, link.tokenHash, NOW)).toStrictEqual(link);
      expect(await linkByToken(records, link.purpose, link.tokenHash, NOW)).toBeNull();
    }
  });

  it('replace that of the same user and purpose that undoes from the same time on', async () => {
    const { records, owner, otherUser } = await storageOfTwo();
    const [older, newer] = [aLink({ userId: owner }), aLink({ userId: owner, email: 'new@example.org' })];
    const [another, ofOther] = [aLink({ userId: owner, purpose: other(older.purpose) }), aLink({ userId: otherUser })];
    const undos = [NOW - 1, NOW].map((since) => aLink({ userId: owner, purpose: 'factors-undo', since }));
    const again = aLink({ userId: owner, purpose: 'factors-undo', since: NOW });
    for (const link of [older, another, ofOther, newer, ...undos, again]) await putLink(records, link);
    expect(await takeLink(records, older.purpose, older.tokenHash, NOW)).toBeNull();
    const left = await linksOf(records, owner, NOW);
    expect(new Set(left)).toEqual(new Set([newer, another, undos[0], again]));
    expect(await linksOf(records, otherUser, NOW)).toEqual([ofOther]);
  });

  it('are found by the address that they are about, and removed by their purposes', async () => {
    const { records, owner, otherUser } = await storageOfTwo();
    const [email, purpose] = ['given.up@example.org', 'email-change-undo'] as const;
    const about = [owner, otherUser].map((userId) => aLink({ userId, purpose, email, expiresAt: NOW + 1_000 }));
    const rest = aLink({ userId: owner, purpose: other(purpose), email });
    for (const link of [...about, rest]) await putLink(records, link);
    expect(new Set(await linksAbout(records, purpose, email, NOW + 999))).toEqual(new Set(about));
    expect(await linksAbout(records, purpose, email, NOW + 1_000)).toEqual([]);
    expect(await linksAbout(records, purpose, 'nobody@example.org', NOW)).toEqual([]);
    await deleteLinks(records, owner, []);
    await deleteLinks(records, owner, [purpose]);
    expect(await linksOf(records, owner, NOW)).toEqual([rest]);
    expect(await linksOf(records, otherUser, NOW)).toEqual(about.slice(1));
  });

  it('are neither found nor taken once they have expired', async () => {
    const { records, owner } = await storageOfTwo();
    const link = aLink({ userId: owner, expiresAt: NOW + 1_000 });
    await putLink(records, link);
    expect(await linkByToken(records, link.purpose, link.tokenHash, NOW + 1_000)).toBeNull();
    expect(await takeLink(records, link.purpose, link.tokenHash, NOW + 1_000)).toBeNull();
    expect(await linksOf(records, owner, NOW + 1_000)).toEqual([]);
    expect(await takeLink(records, link.purpose, link.tokenHash, NOW + 999)).toStrictEqual(link);
  });
});

describe('invitations', () => {
  it('are found by their address and their token, replaced by the next one, and listed by their addresses', async () => {
    const { records } = await storageOfTwo();
    const [b, a, older] = ['b', 'a', 'a'].map((name) => anInvitation({ email: `${name}@example.org` }));
    if (a === undefined || b === undefined || older === undefined) return expect.unreachable();
    for (const each of [older, b, a]) await putInvitation(records, each);
    expect(await listInvitations(records, NOW, 9)).toStrictEqual([a, b]);
    expect(await listInvitations(records, NOW, 1)).toStrictEqual([a]);
    for (const { email, tokenHash } of [a, b]) {
      expect(await findInvitation(records, { email }, NOW)).toMatchObject({ tokenHash });
      expect(await findInvitation(records, { tokenHash }, NOW)).toMatchObject({ email });
      expect(await findInvitation(records, { email: email.toUpperCase() }, NOW)).toBeNull();
    }
    expect(await findInvitation(records, { tokenHash: older.tokenHash }, NOW)).toBeNull();
    expect([await takeInvitation(records, older, NOW), await takeInvitation(records, a, NOW)]).toEqual([false, true]);
  });

  it('are neither found, taken nor listed once they have expired', async () => {
    const { records } = await storageOfTwo();
    const invitation = anInvitation({ expiresAt: NOW + 1_000 });
    await putInvitation(records, invitation);
    const seenAt = async (now: number) => [
      await findInvitation(records, { email: invitation.email }, now),
      ...(await listInvitations(records, now, 9)),
    ];
    expect([await seenAt(NOW + 1_000), await takeInvitation(records, invitation, NOW + 1_000)]).toEqual([
      [null],
      false,
    ]);
    expect(await seenAt(NOW + 999)).toStrictEqual([invitation, invitation]);
    expect(await takeInvitation(records, invitation, NOW + 999)).toBe(true);
  });
});

it('a value is used once, also one that only resembles another', async () => {
  const { records } = await storageOfTwo();
  for (const id of ['value', 'Value', 'value ', `challenge ${'x'.repeat(180)}`, `challenge ${'x'.repeat(179)}y`])
    expect([await useOnce(records, id, NOW), await useOnce(records, id, NOW + 1)]).toEqual([true, false]);
});
