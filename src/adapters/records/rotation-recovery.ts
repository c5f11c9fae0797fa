import type { SessionRepository } from '../../application/ports/session-repository.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Rotation } from '../../domain/session.ts';
import { withResponseTimeout } from '../limits/response-timeout.ts';
import { NotExecutedError } from './not-executed.ts';

/** Milliseconds: enough for a slow store. */
const LONGEST_ANSWER = 5_500;

/** Milliseconds that a store has to answer a rotation: well below the time limit of a request, which is given in milliseconds. */
export const rotationBudget = (requestTimeout: number): number => Math.min(LONGEST_ANSWER, requestTimeout / 2);

type RecoveryOptions = {
  /** Milliseconds after which a call fails. */
  readonly answerBudget: number;
  /** Milliseconds between two attempts to revert. */
  readonly retryInterval?: number;
  /** How many unconfirmed rotations are remembered. Beyond that, the oldest are not reverted. */
  readonly capacity?: number;
};

/** How many rotations are reverted at once: a row that somebody has locked must not delay the others, nor they every request. */
const AT_ONCE = 5;

const failed = (reason: string) => new AppError('DB_QUERY_FAILED', { reason });

/**
 * Reverts every rotation whose outcome is unknown, at once, and retries until the store confirms it. So the refresh token is still current
 * after a refresh that failed (ADR 0003). Until then, `rotate` and `find` of that session fail at once with DB_QUERY_FAILED in this process.
 * Unconfirmed rotations are lost when the process ends.
 */
export const recoveringSessionRepository = (
  store: SessionRepository,
  { answerBudget, retryInterval = 250, capacity = 5_000 }: RecoveryOptions,
): SessionRepository & { close(): void } => {
  /** In the order in which they failed, or failed to be reverted. */
  const unconfirmed = new Set<Rotation>();
  let timer: NodeJS.Timeout | null = null;
  let closed = false;

  const inTime = <Result>(work: Promise<Result>): Promise<Result> =>
    withResponseTimeout(answerBudget, work, () => failed('the session store does not respond'));
  const schedule = (delay: number): void => {
    if (closed || timer !== null || unconfirmed.size === 0) return;
    timer = setTimeout(() => void revertSome(), delay).unref();
  };
  const recover = (rotation: Rotation): void => {
    const [oldest] = unconfirmed;
    if (unconfirmed.size >= capacity && oldest !== undefined) unconfirmed.delete(oldest);
    unconfirmed.add(rotation);
    schedule(0);
  };
  const confirm = async (rotation: Rotation): Promise<boolean> => {
    try {
      await inTime(store.revert(rotation));
      unconfirmed.delete(rotation);
      return true;
    } catch {
      // To the end of the queue, if it was not dropped meanwhile.
      if (unconfirmed.delete(rotation)) unconfirmed.add(rotation);
      return false;
    }
  };
  const revertSome = async (): Promise<void> => {
    const reverted = await Promise.all([...unconfirmed].slice(0, AT_ONCE).map(confirm));
    timer = null;
    schedule(reverted.some(Boolean) ? 0 : retryInterval);
  };
  const assertConfirmed = (sessionId: string): void => {
    for (const rotation of unconfirmed)
      if (rotation.sessionId === sessionId) throw failed('an earlier rotation of the session is unconfirmed');
  };

  return {
    add: (session) => store.add(session),
    end: (key) => store.end(key),
    useProof: (key, proof) => store.useProof(key, proof),
    bindPage: (key, deviceKey) => store.bindPage(key, deviceKey),
    bindBrowser: (key, browserKey) => store.bindBrowser(key, browserKey),
    authenticate: (key, authenticated) => store.authenticate(key, authenticated),
    findWithUser: (key) => store.findWithUser(key),
    listByUser: (userId, now) => store.listByUser(userId, now),
    endByUser: (userId, exceptId) => store.endByUser(userId, exceptId),
    purge: (now, limit) => store.purge(now, limit),
    async find(key) {
      assertConfirmed(key.id);
      return store.find(key);
    },
    async rotate(rotation) {
      assertConfirmed(rotation.sessionId);
      try {
        return await inTime(store.rotate(rotation));
      } catch (error) {
        if (!(error instanceof NotExecutedError)) recover(rotation);
        throw error;
      }
    },
    async revert(rotation) {
      try {
        await inTime(store.revert(rotation));
      } catch (error) {
        recover(rotation);
        throw error;
      }
    },
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
};
