import type { Rotation } from '../../../domain/session.ts';

/** A rotation that failed with an unknown outcome. */
export type UnconfirmedRotation = {
  readonly rotation: Rotation;
  /** From this time on it can no longer happen. Milliseconds of `performance.now()`. */
  readonly decidedAt: number;
};

/** A queue in the order in which rotations failed or were postponed. Beyond `capacity`, the oldest are dropped. */
export const unconfirmedRotations = (capacity: number) => {
  const queue = new Set<UnconfirmedRotation>();
  const perSession = new Map<string, number>();
  const count = (sessionId: string, step: 1 | -1): void => {
    const left = (perSession.get(sessionId) ?? 0) + step;
    if (left === 0) perSession.delete(sessionId);
    else perSession.set(sessionId, left);
  };
  const remove = (unconfirmed: UnconfirmedRotation): void => {
    if (queue.delete(unconfirmed)) count(unconfirmed.rotation.sessionId, -1);
  };

  return {
    remove,
    add(unconfirmed: UnconfirmedRotation): void {
      const [oldest] = queue;
      if (queue.size >= capacity && oldest !== undefined) remove(oldest);
      queue.add(unconfirmed);
      count(unconfirmed.rotation.sessionId, 1);
    },
    /** Moves an element to the end of the queue, if it is still in it. */
    postpone(unconfirmed: UnconfirmedRotation): void {
      if (queue.delete(unconfirmed)) queue.add(unconfirmed);
    },
    has: (sessionId: string): boolean => perSession.has(sessionId),
    decided: (now: number): UnconfirmedRotation[] => [...queue].filter(({ decidedAt }) => decidedAt <= now),
    isEmpty: (): boolean => queue.size === 0,
  };
};
