/** The end of all sessions that were opened until a time, in steps. */
export type MassEnding = {
  /** ULID. */
  readonly id: string;
  readonly at: number;
  readonly note: string | null;
  readonly actor: string | null;
  /** The id of the last session that was looked at; `null` before the first. */
  readonly cursor: string | null;
};

/**
 * Stores the ends of all sessions that are not done yet.
 * - has the earliest one, where its last step has left it, until it is done
 * - has the next one for who waited while the earliest one was done
 */
export interface MassEndings {
  add(ending: MassEnding): Promise<void>;
  /** The earliest one that is not done, locked until the end of the transaction: steps of several instances take turns. */
  next(): Promise<MassEnding | null>;
  /** @param cursor `null`: it is done. */
  advance(id: string, cursor: string | null): Promise<void>;
}
