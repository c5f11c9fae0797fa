import type { MassEnding } from '../../domain/session.ts';

/**
 * Stores the ends of all sessions whose sessions and remembered devices are still stored. The repositories of these find none that it covers
 * (`isCovered`).
 * - hides the sessions and remembered devices that one covers, with those that replaced one, and removes none
 * - has the earliest one, where its last step has left it, until it is done
 * - has the next one for who waited while the earliest one was done
 */
export interface MassEndings {
  add(ending: MassEnding): Promise<void>;
  /** The earliest one, locked until the end of the transaction: steps of several instances take turns. */
  next(): Promise<MassEnding | null>;
  /** @param cursor `null`: it is done. */
  advance(id: string, cursor: string | null): Promise<void>;
}
