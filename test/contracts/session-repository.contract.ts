import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionRepository } from '../../src/application/ports/session-repository.ts';
import type { Session } from '../../src/domain/session.ts';
import { anId, aRotation, aSession, NOW } from '../support/builders.ts';

type Made = {
  readonly repository: SessionRepository;
  /** Id of a user that exists, where sessions can only be an existing user's. */
  readonly owner?: string;
  /** Whether sessions that are over go by themselves, so that there is nothing to purge. */
  readonly expires?: boolean;
  readonly close?: () => Promise<void>;
};

const RACERS = 50;
/** Over by every clock. */
const LONG_AGO = Date.UTC(2020, 0, 1);

/** @param make an empty repository. */
export const describeSessionRepository = (name: string, make: () => Promise<Made>) => {
  describe(`${name} as a SessionRepository`, () => {
    let made: Made;
    let sessions: SessionRepository;
    beforeEach(async () => {
      made = await make();
      sessions = made.repository;
    });
    afterEach(() => made.close?.());

    const stored = async (given: Partial<Session> = {}): Promise<Session> => {
      const session = aSession({ userId: made.owner ?? anId(), ...given });
      await sessions.add(session);
      return session;
    };

    it('finds a session by id', async () => {
      const [fresh, old] = [await stored(), await stored({ previousTokenId: anId(), rotatedAt: NOW + 1 })];
      expect(await sessions.find(fresh.id)).toStrictEqual(fresh);
      expect(await sessions.find(old.id)).toStrictEqual(old);
    });

    it('finds nothing where there is nothing', async () => {
      const session = await stored();
      expect(await sessions.find(anId())).toBeNull();
      expect(await sessions.find(session.userId)).toBeNull();
      expect(await sessions.find(session.currentTokenId)).toBeNull();
    });

    it('refuses a second session of one id, and keeps the first', async () => {
      const session = await stored();
      await expect(stored({ id: session.id })).rejects.toMatchObject({
        name: 'AppError',
        code: 'DB_UNIQUE_VIOLATION',
      });
      expect(await sessions.find(session.id)).toStrictEqual(session);
    });

    it('rotates a session whose current token is the one that is used up', async () => {
      const [session, other] = [await stored(), await stored()];
      const first = aRotation(session);
      expect(await sessions.rotate(first)).toBe(true);
      const once = {
        ...session,
        currentTokenId: first.to,
        previousTokenId: first.from,
        rotatedAt: first.at,
        expiresAt: first.expiresAt,
      };
      expect(await sessions.find(session.id)).toStrictEqual(once);

      const second = aRotation(once);
      expect(await sessions.rotate(second)).toBe(true);
      expect(await sessions.find(session.id)).toMatchObject({ currentTokenId: second.to, previousTokenId: first.to });
      expect(await sessions.find(other.id)).toStrictEqual(other);
    });

    it('changes nothing when another token is current', async () => {
      const session = await stored();
      const rotation = aRotation(session);
      await sessions.rotate(rotation);
      const now = await sessions.find(session.id);
      expect(await sessions.rotate(rotation)).toBe(false);
      expect(await sessions.rotate(aRotation(session, { from: anId() }))).toBe(false);
      expect(await sessions.rotate(aRotation(session, { sessionId: anId(), from: rotation.to }))).toBe(false);
      expect(await sessions.find(session.id)).toStrictEqual(now);
    });

    it('rotates no session that is over or was ended', async () => {
      const [over, last, ended] = [await stored(), await stored(), await stored()];
      expect(await sessions.rotate(aRotation(over, { at: over.expiresAt }))).toBe(false);
      expect((await sessions.find(over.id))?.currentTokenId ?? over.currentTokenId).toBe(over.currentTokenId);
      expect(await sessions.rotate(aRotation(last, { at: last.expiresAt - 1 }))).toBe(true);
      await sessions.end(ended.id);
      expect(await sessions.rotate(aRotation(ended))).toBe(false);
      expect(await sessions.find(ended.id)).toBeNull();
    });

    it('lets one of many concurrent rotations of one token win', async () => {
      const session = await stored();
      const rotations = Array.from({ length: RACERS }, () => aRotation(session));
      const won = await Promise.all(rotations.map((rotation) => sessions.rotate(rotation)));

      const winners = rotations.filter((_, at) => won[at]);
      expect(winners).toHaveLength(1);
      expect(await sessions.find(session.id)).toMatchObject({
        currentTokenId: winners[0]?.to,
        previousTokenId: session.currentTokenId,
      });
    });

    it('takes back a rotation, so that the token it used up is current again', async () => {
      const [session, other] = [await stored({ previousTokenId: anId() }), await stored()];
      const rotation = aRotation(session);
      await sessions.rotate(rotation);
      await sessions.revert(rotation);
      await sessions.revert(rotation);
      expect(await sessions.find(session.id)).toMatchObject({
        currentTokenId: session.currentTokenId,
        previousTokenId: null,
      });
      expect(await sessions.rotate(aRotation(session, { from: rotation.to }))).toBe(false);
      expect(await sessions.rotate(aRotation(session))).toBe(true);
      expect(await sessions.find(other.id)).toStrictEqual(other);
    });

    it('takes back nothing once the session was rotated on', async () => {
      const session = await stored();
      const first = aRotation(session);
      await sessions.rotate(first);
      await sessions.rotate(aRotation(session, { from: first.to }));
      const now = await sessions.find(session.id);
      await sessions.revert(first);
      expect(await sessions.find(session.id)).toStrictEqual(now);
    });

    it('takes back nothing of a session that was ended or never rotated', async () => {
      const [ended, fresh, lost] = [await stored(), await stored(), await stored({ previousTokenId: anId() })];
      const rotation = aRotation(ended);
      await sessions.rotate(rotation);
      await sessions.end(ended.id);
      await sessions.revert(rotation);
      expect(await sessions.find(ended.id)).toBeNull();

      await sessions.revert(aRotation(fresh));
      expect(await sessions.find(fresh.id)).toStrictEqual(fresh);

      await sessions.revert(aRotation(lost, { from: anId() }));
      expect(await sessions.find(lost.id)).toStrictEqual(lost);
    });

    it('ends a session, and ends it again without complaint', async () => {
      const [session, other] = [await stored(), await stored()];
      await sessions.end(session.id);
      await sessions.end(session.id);
      await sessions.end(anId());
      expect(await sessions.find(session.id)).toBeNull();
      expect(await sessions.find(other.id)).toStrictEqual(other);
    });

    it('purges the sessions that are over, and only those', async () => {
      const over: Session[] = [];
      for (const age of [0, 1, 2]) over.push(await stored({ expiresAt: NOW + 1_000 - age }));
      const live = await stored({ expiresAt: NOW + 1_001 });

      const purged = [];
      for (let round = 0; round < 3; round += 1) purged.push(await sessions.purge(NOW + 1_000, 2));
      expect(purged).toEqual(made.expires ? [0, 0, 0] : [2, 1, 0]);
      const left = await Promise.all(over.map(({ id }) => sessions.find(id)));
      expect(left.filter((session) => session !== null)).toHaveLength(made.expires ? 3 : 0);
      expect(await sessions.find(live.id)).toStrictEqual(live);
    });

    it('finds a session no more that was over long ago and was purged', async () => {
      const session = await stored({ expiresAt: LONG_AGO });
      await sessions.purge(LONG_AGO, 10);
      expect(await sessions.find(session.id)).toBeNull();
      expect(await sessions.rotate(aRotation(session))).toBe(false);
    });

    it('stores nothing that is done to a session it was given or gave back', async () => {
      const session = aSession({ userId: made.owner ?? anId() });
      const given = { ...session };
      await sessions.add(given);
      Object.assign(given, { currentTokenId: anId(), expiresAt: NOW });
      const found = await sessions.find(session.id);
      expect(found).toStrictEqual(session);
      Object.assign(found ?? {}, { currentTokenId: anId(), previousTokenId: anId(), expiresAt: NOW });
      expect(await sessions.find(session.id)).toStrictEqual(session);
      expect(await sessions.rotate(aRotation(session))).toBe(true);
    });
  });
};
