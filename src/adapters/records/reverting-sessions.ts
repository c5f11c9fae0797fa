import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Rotation } from '../../domain/session.ts';
import { monotonicTime } from '../clock/system.ts';

/** Longer than a fail-over of the database. Later, a rotation is no longer reverted. */
const PATIENCE_MS = 60_000;
/** How many rotations are remembered. For a further one, the oldest is no longer reverted. */
const CAPACITY = 5_000;
/** How many are reverted at once: a row that somebody has locked must not delay the others, nor they every request. */
const AT_ONCE = 5;

/**
 * Reverts a rotation whose outcome is unknown, so that its refresh token is current after a refresh that failed: again and again for a
 * minute, and before this process rotates or reads the session (ADR 0003).
 * @param retryInterval milliseconds between two attempts
 */
export const revertingSessions = (store: SessionRepository, { retryInterval = 250 } = {}): SessionRepository => {
  const unconfirmed = new Set<Rotation>();
  const few = pLimit(AT_ONCE);

  const revert = async (rotation: Rotation): Promise<void> => {
    await store.revert(rotation);
    unconfirmed.delete(rotation);
  };
  const keepReverting = async (rotation: Rotation): Promise<void> => {
    unconfirmed.add(rotation);
    for (const oldest of unconfirmed) if (unconfirmed.size > CAPACITY) unconfirmed.delete(oldest);
    const end = monotonicTime() + PATIENCE_MS;
    const isWaiting = () => unconfirmed.has(rotation) && monotonicTime() < end;
    const attempt = async () => {
      if (isWaiting()) await revert(rotation);
    };
    while (isWaiting()) await few(attempt).catch(() => pause(retryInterval, undefined, { ref: false }));
    unconfirmed.delete(rotation);
  };
  /** @throws AppError DB_QUERY_FAILED if it fails: the current token may be one that no client got, so the session must not be used yet. */
  const revertAllOf = async (sessionId: string): Promise<void> => {
    for (const rotation of unconfirmed) if (rotation.sessionId === sessionId) await revert(rotation);
  };
  const orKeepReverting = async <Result>(rotation: Rotation, call: Promise<Result>): Promise<Result> => {
    try {
      return await call;
    } catch (error) {
      void keepReverting(rotation);
      throw error;
    }
  };

  return {
    ...store,
    async find(key) {
      await revertAllOf(key.id);
      return store.find(key);
    },
    async rotate(rotation) {
      if (unconfirmed.size > 0) await revertAllOf(rotation.sessionId);
      return orKeepReverting(rotation, store.rotate(rotation));
    },
    revert: (rotation) => orKeepReverting(rotation, store.revert(rotation)),
  };
};
