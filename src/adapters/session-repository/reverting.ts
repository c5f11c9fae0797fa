import type { SessionRepository } from '../../application/ports/session-repository.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Rotation } from '../../domain/session.ts';
import { withResponseTimeout } from '../response-timeout.ts';
import { doubtsUpTo } from './doubts.ts';

type RevertingOptions = {
  /** Milliseconds after which a call is given up; a rotation that has not happened by then never will. */
  readonly patience: number;
  /** Milliseconds between two attempts to take back what is in doubt. */
  readonly pause?: number;
  /** How many rotations may be in doubt at once; of more, the oldest stay as they are. */
  readonly capacity?: number;
};

const failed = (reason: string) => new AppError('DB_QUERY_FAILED', { reason });

/** @throws AppError DB_QUERY_FAILED when `work` takes longer. */
const within = <Result>(patience: number, work: Promise<Result>): Promise<Result> =>
  withResponseTimeout(patience, work, () => failed('the session store does not answer'));

/**
 * Takes back every rotation that failed without saying whether it happened, again and again until the store has answered:
 * a refresh that was answered with an error has not used its token up (ADR 0022). Until then the session is neither rotated
 * nor found in this process: both fail at once with DB_QUERY_FAILED. What is in doubt is forgotten with the process.
 */
export const revertingSessionRepository = (
  sessions: SessionRepository,
  { patience, pause = 250, capacity = 5_000 }: RevertingOptions,
): SessionRepository & { close(): void } => {
  const doubts = doubtsUpTo(capacity);
  let timer: NodeJS.Timeout | null = null;
  let closed = false;

  const schedule = (): void => {
    if (closed || timer !== null || doubts.isEmpty()) return;
    timer = setTimeout(() => void settle(), pause).unref();
  };
  const doubt = (rotation: Rotation, settledAt: number): void => {
    doubts.add({ rotation, settledAt });
    schedule();
  };
  const refuseInDoubt = (sessionId: string): void => {
    if (doubts.concern(sessionId)) throw failed('an earlier rotation of the session is in doubt');
  };
  const settle = async (): Promise<void> => {
    for (const settled of doubts.settled(performance.now())) {
      try {
        await within(patience, sessions.revert(settled.rotation));
        doubts.remove(settled);
      } catch {
        doubts.putOff(settled);
        break;
      }
    }
    timer = null;
    schedule();
  };

  return {
    add: (session) => sessions.add(session),
    end: (key) => sessions.end(key),
    listByUser: (userId, now) => sessions.listByUser(userId, now),
    endByUser: (userId, exceptId) => sessions.endByUser(userId, exceptId),
    purge: (now, limit) => sessions.purge(now, limit),
    async find(key) {
      refuseInDoubt(key.id);
      return sessions.find(key);
    },
    async rotate(rotation) {
      refuseInDoubt(rotation.sessionId);
      const settledAt = performance.now() + patience;
      try {
        return await within(patience, sessions.rotate(rotation));
      } catch (error) {
        doubt(rotation, settledAt);
        throw error;
      }
    },
    async revert(rotation) {
      try {
        await within(patience, sessions.revert(rotation));
      } catch (error) {
        doubt(rotation, performance.now());
        throw error;
      }
    },
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
};
