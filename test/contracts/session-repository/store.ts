import { expect } from 'vitest';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import {
  partWithUser,
  type Rotation,
  type RotationOutcome,
  rotated,
  type Session,
} from '../../../src/domain/session.ts';
import type { User, UserInTokens } from '../../../src/domain/user.ts';
import { aRotation, aSession, NOW } from '../../support/builders.ts';
import { type Absent, offered, type StoreHooks } from '../hooks.ts';
import type { Run } from '../suite.ts';

/** A store that can be held up, several times. */
export type HeldStore = {
  /** From now on, the store changes no session: it is slow, or somebody has locked them. */
  hold(): Promise<void>;
  /** Lets the store carry out what was held up, once it waits. */
  release(): Promise<void>;
};

/** An adapter under test, and what the contract does with its store. A hook that cannot be offered is `absent(why)`. */
export type SessionStore = StoreHooks<SessionRepository> & {
  readonly repository: SessionRepository;
  /** For rotations of several instances that wait for the store. */
  readonly held: (() => Promise<HeldStore>) | Absent;
  /** Deletes a user from the store. */
  readonly deleteUser: (id: string) => Promise<void>;
  /** Two users who are stored with the sessions. */
  readonly users: readonly [User, User];
  readonly close?: () => Promise<void>;
};

/** The hooks of a store that may be absent. */
type HookName = 'another' | 'failing' | 'held';

/** What each test of the contract is given. */
export type GivenSessions = Awaited<ReturnType<typeof givenSessions>>;

export const DEVICE = { userAgent: 'Mozilla/5.0 (“Ünïcode” / 1)', address: '203.0.113.0/24' };

/** Sessions of one user, each used a millisecond after the one before. */
export const aSeries = (count: number, first: Partial<Session>): Session[] =>
  Array.from({ length: count }, (_, at) => aSession({ ...first, rotatedAt: (first.rotatedAt ?? NOW) + at }));

export const idsOf = (listed: readonly Session[]): string[] => listed.map(({ id }) => id);

/** A user as every rotation reads them; a store may read more. */
export const inTokens = (user: UserInTokens): UserInTokens => {
  const { locale: _, ...rest }: Partial<User> & UserInTokens = user;
  return rest;
};

/** The outcome of a rotation, without what a store may add. */
export const outcomeInTokens = (outcome: RotationOutcome): RotationOutcome =>
  typeof outcome === 'string' ? outcome : { ...outcome, user: inTokens(outcome.user) };

export const givenSessions = async (make: () => Promise<SessionStore>, run: Run) => {
  const store = await make();
  const { repository: sessions } = store;
  const [owner, otherUser] = [store.users[0].id, store.users[1].id];

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
  /** The ids of the listed sessions, in their order. */
  const listed = async (now = NOW): Promise<string[]> => idsOf(await sessions.listByUser(owner, now));
  /** Rotates a session several times, at intervals of a second. @returns the session that the domain computes. */
  const rotateOn = async (session: Session, times: number, given: Partial<Rotation>): Promise<Session> => {
    let current = session;
    for (let count = 0; count < times; count += 1) {
      const rotation = aRotation(current, { at: current.rotatedAt + 1_000, ...given });
      const next = rotated(current, rotation) ?? expect.unreachable();
      const expected = { user: inTokens(store.users[0]), ...partWithUser(next) };
      expect(outcomeInTokens(await sessions.rotate(rotation))).toStrictEqual(expected);
      current = next;
    }
    return current;
  };
  /** A hook of the store; without it, the test is skipped. */
  const hook = <Name extends HookName>(name: Name): Exclude<SessionStore[Name], Absent> =>
    offered<Exclude<SessionStore[Name], Absent>>(store[name] as never, run);

  return { store, sessions, owner, otherUser, stored, storedSeries, listed, rotateOn, hook };
};
