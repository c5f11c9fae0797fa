import { setImmediate } from 'node:timers/promises';
import { translated } from './translated.ts';

/** Rows by their ids: copies are put in and taken out. */
export type Rows<Row> = {
  get(id: string): Row | undefined;
  set(row: Row): void;
  delete(id: string): boolean;
  all(): Row[];
};

/** Carries out one atomic step of an adapter. */
export type Access<Row> = <Result>(step: (rows: Rows<Row>) => Result) => Promise<Result>;

const rowsOf = <Row extends { readonly id: string }>(stored: Map<string, Row>): Rows<Row> => ({
  get: (id) => structuredClone(stored.get(id)),
  set: (row) => void stored.set(row.id, structuredClone(row)),
  delete: (id) => stored.delete(id),
  all: () => structuredClone([...stored.values()]),
});

/** A store in memory that several instances share, as they share a server: each step takes turns of the event loop. */
export const sharedRows = <Row extends { readonly id: string }>() => {
  const stored = new Map<string, Row>();
  const rows = rowsOf(stored);
  let gate: PromiseWithResolvers<void> | null = null;
  let steps = 0;
  const connect: () => Access<Row> = () => async (step) => {
    steps += 1;
    // Not the same number each time, so that steps overtake each other.
    for (let turns = steps % 3; turns >= 0; turns -= 1) await setImmediate();
    const result = step(rows);
    await setImmediate();
    return result;
  };
  return {
    stored,
    connect,
    /** Fails with an error that quotes what is stored, as some drivers do. */
    connectFailing: (): Access<Row> => async () => {
      await setImmediate();
      throw new Error(`duplicate key: ${JSON.stringify([...stored.values()])}`);
    },
    connectDelayed: (): Access<Row> => async (step) => {
      await gate?.promise;
      return connect()(step);
    },
    hold: (): void => {
      gate = Promise.withResolvers();
    },
    release: (): void => {
      gate?.resolve();
    },
  };
};

/** The same access; foreign errors become DB_QUERY_FAILED. */
export const translating =
  <Row>(access: Access<Row>): Access<Row> =>
  (step) =>
    translated(() => access(step));
