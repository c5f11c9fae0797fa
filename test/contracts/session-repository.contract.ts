import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionRepository } from '../../src/application/ports/session-repository.ts';
import {
  EARLIER_TOKENS_KEPT,
  type Rotation,
  rotated,
  SESSIONS_PER_USER,
  type Session,
} from '../../src/domain/session.ts';
import { anId, aRotation, aSession, NOW } from '../support/builders.ts';

type Made = {
  readonly repository: SessionRepository;
  /** Ids of two existing users, for a store that requires them. */
  readonly owners?: readonly [string, string];
  /** Whether the store expires sessions itself, so that there is nothing to purge. */
  readonly expires?: boolean;
  readonly close?: () => Promise<void>;
};

const RACERS = 50;
const DEVICE = { userAgent: 'Mozilla/5.0 (“Ünïcode” / 1)', address: '203.0.113.0/24' };
const EARLIER = [NOW - 1, NOW - 2].map((rotatedAt) => ({ tokenId: anId(), rotatedAt }));
/** In the past, whatever the clock of the store. */
const LONG_AGO = Date.UTC(2020, 0, 1);

/** Sessions of one user, each used a millisecond after the one before. */
const aSeries = (count: number, first: Partial<Session>): Session[] =>
  Array.from({ length: count }, (_, at) => aSession({ ...first, rotatedAt: (first.rotatedAt ?? NOW) + at }));

/** @param make makes an empty repository. */
export const describeSessionRepository = (name: string, make: () => Promise<Made>) => {
  describe(`${name} as a SessionRepository`, () => {
    let made: Made;
    let sessions: SessionRepository;
    let owner: string;
    let otherUser: string;
    beforeEach(async () => {
      made = await make();
      sessions = made.repository;
      [owner, otherUser] = made.owners ?? [anId(), anId()];
    });
    afterEach(() => made.close?.());

    const stored = async (given: Partial<Session> = {}): Promise<Session> => {
      const session = aSession({ userId: owner, ...given });
      await sessions.add(session);
      return session;
    };
    /** Stores sessions one after the other. */
    const storedSeries = async (count: number, first: Partial<Session> = {}): Promise<Session[]> => {
      const series = aSeries(count, { userId: owner, ...first });
      for (const session of series) await sessions.add(session);
      return series;
    };
    const idsOf = (listed: readonly Session[]): string[] => listed.map(({ id }) => id);
    const listed = async (userId = owner): Promise<string[]> => idsOf(await sessions.listByUser(userId, NOW));

    /** Rotates a session several times, at intervals of a second. @returns the session that the domain computes. */
    const rotateOn = async (session: Session, times: number, given: Partial<Rotation>): Promise<Session> => {
      let expected = session;
      for (let count = 0; count < times; count += 1) {
        const rotation = aRotation(expected, { at: expected.rotatedAt + 1_000, ...given });
        expect(await sessions.rotate(rotation)).toBe('rotated');
        expected = rotated(expected, rotation) ?? expect.unreachable();
      }
      return expected;
    };

    describe('adding and finding', () => {
      it('finds a session by its id and its user', async () => {
        const fresh = await stored();
        const old = await stored({ previousTokenId: anId(), rotatedAt: NOW + 1, earlierTokens: EARLIER, ...DEVICE });
        const ofOther = await stored({ userId: otherUser });
        for (const session of [fresh, old, ofOther]) expect(await sessions.find(session)).toStrictEqual(session);
      });

      it('does not find an unknown session, or one of another user', async () => {
        const session = await stored();
        for (const id of [anId(), session.userId, session.currentTokenId]) {
          expect(await sessions.find({ id, userId: owner })).toBeNull();
        }
        expect(await sessions.find({ id: session.id, userId: otherUser })).toBeNull();
        expect(await sessions.find({ id: session.id, userId: anId() })).toBeNull();
      });

      it('distinguishes an id from the same id with trailing spaces', async () => {
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

      it('rejects a second session with the same id and user, and keeps the first', async () => {
        const session = await stored();
        await expect(stored({ id: session.id })).rejects.toMatchObject({
          name: 'AppError',
          code: 'DB_UNIQUE_VIOLATION',
        });
        expect(await sessions.find(session)).toStrictEqual(session);
      });

      it('is not affected by changes to a session that it was given or has returned', async () => {
        const session = aSession({ userId: owner, previousTokenId: anId(), earlierTokens: EARLIER });
        const given = structuredClone(session);
        await sessions.add(given);
        Object.assign(given, { currentTokenId: anId(), expiresAt: NOW });
        const found = await sessions.find(session);
        expect(found).toStrictEqual(session);
        Object.assign(found ?? {}, { currentTokenId: anId(), previousTokenId: anId(), expiresAt: NOW });
        found?.earlierTokens.forEach((token) => {
          Object.assign(token, { rotatedAt: 0 });
        });
        expect(await sessions.find(session)).toStrictEqual(session);
        expect(await sessions.rotate(aRotation(session))).toBe('rotated');
      });
    });

    describe('rotating', () => {
      it('rotates a session by its current token', async () => {
        const [session, other] = [await stored(), await stored()];
        const first = aRotation(session);
        expect(await sessions.rotate(first)).toBe('rotated');
        const once = {
          ...session,
          currentTokenId: first.to,
          previousTokenId: first.from,
          rotatedAt: first.at,
          expiresAt: first.expiresAt,
        };
        expect(await sessions.find(session)).toStrictEqual(once);

        const second = aRotation(once);
        expect(await sessions.rotate(second)).toBe('rotated');
        expect(await sessions.find(session)).toMatchObject({ currentTokenId: second.to, previousTokenId: first.to });
        expect(await sessions.find(other)).toStrictEqual(other);
      });

      it('remembers the tokens that were rotated before the previous one, 16 at most', async () => {
        const session = await stored();
        const few = await rotateOn(session, 3, { racesSince: NOW });
        expect(few.earlierTokens).toHaveLength(2);
        expect(await sessions.find(session)).toStrictEqual(few);
        const many = await rotateOn(few, EARLIER_TOKENS_KEPT + 3, { racesSince: NOW });
        expect(many.earlierTokens).toHaveLength(EARLIER_TOKENS_KEPT);
        expect(await sessions.find(session)).toStrictEqual(many);
      });

      it('forgets those tokens when the last rotation can no longer be part of a race', async () => {
        const session = await rotateOn(await stored(), 4, { racesSince: NOW });
        const still = await rotateOn(session, 1, { racesSince: session.rotatedAt });
        expect(still.earlierTokens).toHaveLength(4);
        expect(await sessions.find(session)).toStrictEqual(still);
        const none = await rotateOn(still, 1, { racesSince: still.rotatedAt + 1 });
        expect(none.earlierTokens).toHaveLength(0);
        expect(await sessions.find(session)).toStrictEqual(none);
      });

      it('changes nothing when another token is current', async () => {
        const session = await stored();
        const rotation = aRotation(session);
        await sessions.rotate(rotation);
        const now = await sessions.find(session);
        expect(await sessions.rotate(rotation)).toBe('stale');
        expect(await sessions.rotate(aRotation(session, { from: anId() }))).toBe('stale');
        expect(await sessions.rotate(aRotation(session, { sessionId: anId(), from: rotation.to }))).toBe('stale');
        expect(await sessions.rotate(aRotation(session, { userId: otherUser, from: rotation.to }))).toBe('stale');
        expect(await sessions.find(session)).toStrictEqual(now);
      });

      it('does not rotate a session that has expired or was ended', async () => {
        const [expired, last, ended] = [await stored(), await stored(), await stored()];
        expect(await sessions.rotate(aRotation(expired, { at: expired.expiresAt }))).toBe('stale');
        expect((await sessions.find(expired))?.currentTokenId ?? expired.currentTokenId).toBe(expired.currentTokenId);
        expect(await sessions.rotate(aRotation(last, { at: last.expiresAt - 1 }))).toBe('rotated');
        await sessions.end(ended);
        expect(await sessions.rotate(aRotation(ended))).toBe('stale');
        expect(await sessions.find(ended)).toBeNull();
      });

      it('accepts exactly one of many concurrent rotations of the same token', async () => {
        const session = await stored();
        const rotations = Array.from({ length: RACERS }, () => aRotation(session));
        const outcomes = await Promise.all(rotations.map((rotation) => sessions.rotate(rotation)));

        const winners = rotations.filter((_, at) => outcomes[at] === 'rotated');
        expect(winners).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === 'stale')).toHaveLength(RACERS - 1);
        expect(await sessions.find(session)).toMatchObject({
          currentTokenId: winners[0]?.to,
          previousTokenId: session.currentTokenId,
        });
      });
    });

    describe('reverting', () => {
      it('reverts a rotation, so that the rotated token is current again', async () => {
        const [session, other] = [await stored({ previousTokenId: anId() }), await stored()];
        const rotation = aRotation(session);
        await sessions.rotate(rotation);
        await sessions.revert(rotation);
        await sessions.revert(rotation);
        expect(await sessions.find(session)).toMatchObject({ currentTokenId: session.currentTokenId });
        expect(await sessions.rotate(aRotation(session, { from: rotation.to }))).toBe('stale');
        expect(await sessions.rotate(aRotation(session))).toBe('rotated');
        expect(await sessions.find(other)).toStrictEqual(other);
      });

      it('keeps the remembered tokens when a rotation is reverted', async () => {
        const session = await rotateOn(await stored(), 3, { racesSince: NOW });
        const rotation = aRotation(session, { racesSince: NOW });
        await sessions.rotate(rotation);
        const after = rotated(session, rotation) ?? expect.unreachable();
        await sessions.revert(rotation);
        expect(await sessions.find(session)).toStrictEqual({ ...after, currentTokenId: session.currentTokenId });
      });

      it('does not revert a rotation that was followed by another', async () => {
        const session = await stored();
        const first = aRotation(session);
        await sessions.rotate(first);
        await sessions.rotate(aRotation(session, { from: first.to }));
        const now = await sessions.find(session);
        await sessions.revert(first);
        expect(await sessions.find(session)).toStrictEqual(now);
      });

      it('reverts nothing in a session that was ended or never rotated', async () => {
        const [ended, fresh, lost] = [await stored(), await stored(), await stored({ previousTokenId: anId() })];
        const rotation = aRotation(ended);
        await sessions.rotate(rotation);
        await sessions.end(ended);
        await sessions.revert(rotation);
        expect(await sessions.find(ended)).toBeNull();

        await sessions.revert(aRotation(fresh));
        expect(await sessions.find(fresh)).toStrictEqual(fresh);

        await sessions.revert(aRotation(lost, { from: anId() }));
        await sessions.revert(aRotation(lost, { userId: otherUser, to: lost.currentTokenId }));
        expect(await sessions.find(lost)).toStrictEqual(lost);
      });
    });

    describe('ending', () => {
      it('ends a session, and returns false when there is none', async () => {
        const [session, other] = [await stored(), await stored()];
        expect(await sessions.end(session)).toBe(true);
        expect(await sessions.end(session)).toBe(false);
        for (const id of [anId(), '', 'no id', '\0', '\ud800']) {
          expect(await sessions.end({ id, userId: owner })).toBe(false);
        }
        expect(await sessions.find(session)).toBeNull();
        expect(await sessions.find(other)).toStrictEqual(other);
      });

      it('does not end a session of another user', async () => {
        const session = await stored();
        expect(await sessions.end({ id: session.id, userId: otherUser })).toBe(false);
        expect(await sessions.find(session)).toStrictEqual(session);
      });

      it('ends all sessions of one user', async () => {
        const [ended, ofOther] = [await storedSeries(3), await stored({ userId: otherUser })];
        await sessions.endByUser(owner, null);
        await sessions.endByUser(anId(), null);
        expect(await listed()).toEqual([]);
        for (const session of ended) expect(await sessions.rotate(aRotation(session))).toBe('stale');
        expect(await sessions.find(ofOther)).toStrictEqual(ofOther);
      });

      it('ends all sessions of one user except one', async () => {
        const [series, ofOther] = [await storedSeries(3, DEVICE), await stored({ userId: otherUser })];
        const [, kept = expect.unreachable()] = series;
        await sessions.endByUser(owner, kept.id);
        expect(await sessions.listByUser(owner, NOW)).toStrictEqual([kept]);
        expect(await sessions.find(ofOther)).toStrictEqual(ofOther);

        await sessions.endByUser(owner, ofOther.id);
        expect(await listed()).toEqual([]);
        expect(await sessions.find(ofOther)).toStrictEqual(ofOther);
      });
    });

    describe('listing', () => {
      it('lists the live sessions of one user, the most recently used first', async () => {
        const [first, second] = [await stored(DEVICE), await stored({ rotatedAt: NOW + 2 })];
        const third = await stored({ rotatedAt: NOW + 2 });
        await stored({ userId: otherUser });
        await stored({ expiresAt: NOW + 1_000 });
        expect(await sessions.listByUser(owner, NOW + 1_000)).toStrictEqual([third, second, first]);
        expect(await sessions.listByUser(anId(), NOW)).toEqual([]);

        const rotation = aRotation(first);
        await sessions.rotate(rotation);
        expect(idsOf(await sessions.listByUser(owner, NOW + 1_000))).toEqual([first.id, third.id, second.id]);
        await sessions.end(third);
        expect(idsOf(await sessions.listByUser(owner, NOW + 1_000))).toEqual([first.id, second.id]);
      });
    });

    describe('limiting the sessions of a user', () => {
      it('keeps the 50 most recently used live sessions of a user', async () => {
        const ofOther = await stored({ userId: otherUser });
        const [oldest = expect.unreachable(), second = expect.unreachable(), ...others] =
          await storedSeries(SESSIONS_PER_USER);
        await sessions.rotate(aRotation(oldest));
        const newest = await stored({ rotatedAt: NOW + 1_000 });
        const kept = [oldest, newest, ...others.reverse()];
        expect(await listed()).toEqual(idsOf(kept));
        expect(await sessions.find(second)).toBeNull();
        expect(await sessions.find(ofOther)).toStrictEqual(ofOther);
      });

      it('keeps exactly these 50 after many concurrent adds', async () => {
        const [oldest = expect.unreachable()] = await storedSeries(5);
        const series = aSeries(60, { userId: owner, rotatedAt: NOW + 1_000 });
        // The newest first: the time of the last use decides, not the order of arrival.
        await Promise.all(series.toReversed().map((session) => sessions.add(session)));
        expect(await listed()).toEqual(idsOf(series.slice(-SESSIONS_PER_USER).reverse()));
        expect(await sessions.find(oldest)).toBeNull();
      });

      it('does not count expired sessions towards the 50', async () => {
        await storedSeries(3, { expiresAt: NOW });
        const series = await storedSeries(SESSIONS_PER_USER);
        expect(await listed()).toEqual(idsOf(series.reverse()));
      });
    });

    describe('purging', () => {
      it('purges expired sessions, and only those', async () => {
        const expired: Session[] = [];
        for (const age of [0, 1, 2]) expired.push(await stored({ expiresAt: NOW + 1_000 - age }));
        const live = await stored({ expiresAt: NOW + 1_001 });

        const purged = [];
        for (let round = 0; round < 3; round += 1) purged.push(await sessions.purge(NOW + 1_000, 2));
        expect(purged).toEqual(made.expires ? [0, 0, 0] : [2, 1, 0]);
        const left = await Promise.all(expired.map((session) => sessions.find(session)));
        expect(left.filter((session) => session !== null)).toHaveLength(made.expires ? 3 : 0);
        expect(await sessions.find(live)).toStrictEqual(live);
      });

      it('does not find a session that expired long ago and was purged', async () => {
        const session = await stored({ expiresAt: LONG_AGO });
        await sessions.purge(LONG_AGO, 10);
        expect(await sessions.find(session)).toBeNull();
        expect(await sessions.rotate(aRotation(session))).toBe('stale');
      });
    });
  });
};
