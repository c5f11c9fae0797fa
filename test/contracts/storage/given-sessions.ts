import { expect } from 'vitest';
import type { SessionRepository, UserInSession } from '../../../src/application/ports/session-repository.ts';
import {
  partWithUser,
  type Rotation,
  type RotationOutcome,
  rotated,
  type Session,
  type SessionKey,
} from '../../../src/domain/session.ts';
import type { User, UserInTokens } from '../../../src/domain/user.ts';
import { aRotation, aSession, NOW } from '../../support/builders.ts';
import { offered } from '../hooks.ts';
import type { Run } from '../suite.ts';
import { givenStorage, type HeldStore, idsOf, type OpenedStorage } from './given.ts';

/** Sessions of one user, each used a millisecond after the one before. */
export const aSeries = (count: number, first: Partial<Session>): Session[] =>
  Array.from({ length: count }, (_, at) => aSession({ ...first, rotatedAt: (first.rotatedAt ?? NOW) + at }));

/** A user as every rotation reads them; a store may read more. */
export const inTokens = (user: UserInTokens): UserInTokens => {
  const { locale: _, ...rest }: Partial<User> & UserInTokens = user;
  return rest;
};

/** The outcome of a rotation, without what a store may add. */
export const outcomeInTokens = (outcome: RotationOutcome): RotationOutcome =>
  typeof outcome === 'string' ? outcome : { ...outcome, user: inTokens(outcome.user) };

/** A user with a session, without what a store may add. */
export const foundWithUser = async (
  sessions: Pick<SessionRepository, 'findWithUser'>,
  key: SessionKey,
): Promise<UserInSession | null> => {
  const found = await sessions.findWithUser(key);
  return found && { user: found.user, session: found.session };
};

export const givenSessions = async (open: () => Promise<OpenedStorage>, run: Run) => {
  const given = await givenStorage(open, run);
  const { sessions, owner, user, opened } = given;
  return {
    ...given,
    stored: async (values: Partial<Session> = {}): Promise<Session> => {
      const session = aSession({ userId: owner, ...values });
      await sessions.add(session);
      return session;
    },
    /** Stores sessions one after the other. */
    storedSeries: async (count: number, first: Partial<Session> = {}): Promise<Session[]> => {
      const series = aSeries(count, { userId: owner, ...first });
      for (const session of series) await sessions.add(session);
      return series;
    },
    /** The ids of the owner's sessions, in their order. */
    listed: async (now = NOW): Promise<string[]> => idsOf(await sessions.listByUser(owner, now)),
    /** Rotates a session several times, at intervals of a second. @returns the session that the domain computes. */
    rotateOn: async (session: Session, times: number, values: Partial<Rotation>): Promise<Session> => {
      let current = session;
      for (let count = 0; count < times; count += 1) {
        const rotation = aRotation(current, { at: current.rotatedAt + 1_000, ...values });
        const next = rotated(current, rotation) ?? expect.unreachable();
        const expected = { user: inTokens(user), ...partWithUser(next) };
        expect(outcomeInTokens(await sessions.rotate(rotation))).toStrictEqual(expected);
        current = next;
      }
      return current;
    },
    held: () => offered<() => Promise<HeldStore>>(opened.held ?? { absent: 'nobody else locks sessions' }, run)(),
    anotherOf: async () => offered<Exclude<typeof opened.another, { absent: string }>>(opened.another, run)(),
  };
};
export type GivenSessions = Awaited<ReturnType<typeof givenSessions>>;
