import type { Attempt, LoginAttempts } from '../../application/ports/login-attempts.ts';
import { counted, isForgotten, type LoginThrottle, waitFor, withdrawn } from '../../domain/login-throttle.ts';
import { hashedKey } from './hashed-key.ts';

type MemoryOptions = {
  /** Milliseconds of a clock that never steps. */
  readonly now?: () => number;
  /** Keys remembered at once; beyond, those go whose last try was longest ago. */
  readonly capacity?: number;
};

/** Counts in this process. */
export const memoryLoginAttempts = ({
  now = () => performance.now(),
  capacity = 50_000,
}: MemoryOptions = {}): LoginAttempts & { readonly size: () => number } => {
  /** In the order of their last tries. */
  const throttles = new Map<string, LoginThrottle>();

  const makeRoom = (at: number): void => {
    for (const [key, throttle] of throttles) {
      if (throttles.size < capacity && !isForgotten(throttle, at)) return;
      throttles.delete(key);
    }
  };
  const count = (key: string, network: string, at: number): void => {
    const next = counted(throttles.get(key) ?? null, network, at);
    throttles.delete(key);
    makeRoom(at);
    throttles.set(key, next);
  };

  return {
    async begin({ key, network }: Attempt) {
      const [hashed, at] = [hashedKey(key), now()];
      const wait = waitFor(throttles.get(hashed) ?? null, network, at);
      if (wait === 0) count(hashed, network, at);
      return wait;
    },
    async succeed({ key }) {
      throttles.delete(hashedKey(key));
    },
    async withdraw({ key, network }) {
      const hashed = hashedKey(key);
      const throttle = throttles.get(hashed);
      if (throttle !== undefined) throttles.set(hashed, withdrawn(throttle, network));
    },
    size: () => throttles.size,
  };
};
