import { expect } from 'vitest';
import { shortUserAgent } from '../../../src/domain/event.ts';
import { partWithUser, type Session } from '../../../src/domain/session.ts';
import { anId, aRotation, aSession, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { DEVICE, type GivenSessions, idsOf } from './store.ts';

export const adding = ({ it }: Tests<GivenSessions>): void => {
  it('finds a session by its id and its user', async ({ sessions, otherUser, stored }) => {
    const fresh = await stored();
    const old = await stored({
      previousTokenId: anId(),
      createdAt: NOW - 1,
      rotatedAt: NOW + 1,
      rotation: 2 ** 40,
      burstStartedAt: NOW - 2,
      burstFirst: 2 ** 40 - 3,
      ...DEVICE,
    });
    const longest = await stored({ userAgent: shortUserAgent('x'.repeat(1_000)) });
    const ofOther = await stored({ userId: otherUser });
    for (const session of [fresh, old, longest, ofOther]) expect(await sessions.find(session)).toStrictEqual(session);
  });

  it('does not find an unknown session, or one of another user', async ({ sessions, owner, otherUser, stored }) => {
    const session = await stored();
    for (const id of [anId(), session.userId, session.currentTokenId]) {
      expect(await sessions.find({ id, userId: owner })).toBeNull();
    }
    expect(await sessions.find({ id: session.id, userId: otherUser })).toBeNull();
    expect(await sessions.find({ id: session.id, userId: anId() })).toBeNull();
  });

  it('finds a user with a session, and without one when the user has no such session', async (given) => {
    const { store, sessions, stored } = given;
    const [user, other] = store.users;
    const session = await stored();
    expect(await sessions.findWithUser(session)).toStrictEqual({ user, session: partWithUser(session) });
    const rotation = aRotation(session);
    await sessions.rotate(rotation);
    expect(await sessions.findWithUser(session)).toStrictEqual({
      user,
      session: { ...partWithUser(session), expiresAt: rotation.expiresAt },
    });
    const ofOther = { id: session.id, userId: other.id };
    expect(await sessions.findWithUser(ofOther)).toStrictEqual({ user: other, session: null });
    await sessions.end(session);
    for (const id of [session.id, anId(), '', 'no id', '\0', '\ud800']) {
      expect(await sessions.findWithUser({ id, userId: user.id })).toStrictEqual({ user, session: null });
    }
  });

  it('finds no user who is not stored', async ({ sessions, stored }) => {
    const { id } = await stored();
    for (const userId of [anId(), '', 'no id', '\0', '\ud800']) {
      expect(await sessions.findWithUser({ id, userId })).toBeNull();
    }
  });

  it('distinguishes an id from the same id with trailing spaces', async ({ sessions, stored }) => {
    const session = await stored();
    const { id, userId } = session;
    for (const key of [
      { id: `${id} `, userId },
      { id: `${id}   `, userId },
      { id, userId: `${userId} ` },
    ]) {
      expect(await sessions.find(key)).toBeNull();
      expect(await sessions.end(key)).toBe(false);
    }
    expect(await sessions.find(session)).toStrictEqual(session);
  });

  it('rejects a second session with the same id and user, and keeps the first', async ({ sessions, stored }) => {
    const session = await stored();
    await expect(stored({ id: session.id })).rejects.toMatchObject({ name: 'AppError', code: 'DB_UNIQUE_VIOLATION' });
    expect(await sessions.find(session)).toStrictEqual(session);
  });

  it('rejects a session of a user who is not stored', async ({ sessions, stored }) => {
    const session = aSession({ userId: anId() });
    await expect(stored(session)).rejects.toMatchObject({ name: 'AppError', code: 'DB_QUERY_FAILED' });
    expect(await sessions.find(session)).toBeNull();
  });

  it('is not affected by changes to a session that it was given or has returned', async (given) => {
    const { store, sessions, owner } = given;
    const session = aSession({ userId: owner, previousTokenId: anId() });
    const change = (copy: Session | null | undefined): void => {
      Object.assign(copy ?? {}, { currentTokenId: anId(), previousTokenId: anId(), expiresAt: NOW });
    };
    const added = structuredClone(session);
    await sessions.add(added);
    change(added);
    const found = await sessions.find(session);
    expect(found).toStrictEqual(session);
    change(found);
    const [listed] = await sessions.listByUser(owner, NOW);
    expect(listed).toStrictEqual(session);
    change(listed);
    expect(await sessions.find(session)).toStrictEqual(session);
    const { username } = store.users[0];
    Object.assign((await sessions.findWithUser(session))?.user ?? {}, { username: 'mallory' });
    expect(await sessions.findWithUser(session)).toMatchObject({ user: { username } });

    const rotation = aRotation(session);
    expect(await sessions.rotate(rotation)).toHaveProperty('user');
    change(await sessions.find(session));
    expect(await sessions.find(session)).toMatchObject({ currentTokenId: rotation.to });
  });

  it('returns what another instance over the same store has written', async ({ sessions, owner, stored, hook }) => {
    const another = await hook('another')();
    const session = await stored();
    for (const instance of [another, sessions]) expect(await instance.find(session)).toStrictEqual(session);
    const rotation = aRotation(session);
    expect(await another.rotate(rotation)).toHaveProperty('user');
    expect(await sessions.findWithUser(session)).toMatchObject({ session: { expiresAt: rotation.expiresAt } });
    expect(await sessions.find(session)).toMatchObject({ currentTokenId: rotation.to });
    expect(await sessions.rotate(aRotation(session, { from: rotation.to, number: 1 }))).toHaveProperty('user');
    expect(idsOf(await another.listByUser(owner, NOW))).toEqual([session.id]);
    expect(await another.end(session)).toBe(true);
    expect(await sessions.find(session)).toBeNull();
  });
};
