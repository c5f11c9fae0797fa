import type { Rotation } from '../../domain/session.ts';

/** A rotation of which nobody knows whether it happened. */
export type Doubt = {
  readonly rotation: Rotation;
  /** From when on it can't happen any more, by `performance.now()`. */
  readonly settledAt: number;
};

/** Doubts in the order in which they arose or were put off, at most `capacity` of them: the oldest make room. */
export const doubtsUpTo = (capacity: number) => {
  const doubts = new Set<Doubt>();
  const perSession = new Map<string, number>();
  const count = (sessionId: string, step: 1 | -1): void => {
    const left = (perSession.get(sessionId) ?? 0) + step;
    if (left === 0) perSession.delete(sessionId);
    else perSession.set(sessionId, left);
  };
  const remove = (doubt: Doubt): void => {
    if (doubts.delete(doubt)) count(doubt.rotation.sessionId, -1);
  };

  return {
    remove,
    add(doubt: Doubt): void {
      const [oldest] = doubts;
      if (doubts.size >= capacity && oldest !== undefined) remove(oldest);
      doubts.add(doubt);
      count(doubt.rotation.sessionId, 1);
    },
    /** Sends one to the end of the line, if it is in it. */
    putOff(doubt: Doubt): void {
      if (doubts.delete(doubt)) doubts.add(doubt);
    },
    concern: (sessionId: string): boolean => perSession.has(sessionId),
    settled: (now: number): Doubt[] => [...doubts].filter(({ settledAt }) => settledAt <= now),
    isEmpty: (): boolean => doubts.size === 0,
  };
};
