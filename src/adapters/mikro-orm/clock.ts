import type { ExpressionBuilder } from 'kysely';
import { type DatabaseAccess, translated } from './queries.ts';
import type { Tables } from './rows.ts';

/** Epoch seconds of the database clock, at the time of evaluation, not at the start of the statement. */
export const clockOf = <Db, Table extends keyof Db>(eb: ExpressionBuilder<Db, Table>) =>
  eb.fn<number>('date_part', [eb.val('epoch'), eb.fn('clock_timestamp', [])]);

/** @returns epoch milliseconds of the database clock. @throws AppError DB_QUERY_FAILED */
export const readTime = async (db: DatabaseAccess): Promise<number> => {
  const { now } = await translated(() =>
    db.em
      .getKysely<Tables>()
      .selectNoFrom((eb) => clockOf(eb).as('now'))
      .executeTakeFirstOrThrow(),
  );
  return now * 1000;
};
