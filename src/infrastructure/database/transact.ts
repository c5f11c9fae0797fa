import type { SqlEntityManager } from '@mikro-orm/sql';
import { CompiledQuery, Kysely, PGliteDialect, type PGliteDialectConfig } from 'kysely';
import type { Tables } from '../../adapters/mikro-orm/rows.ts';
import type { DatabaseAccess, Transact } from '../../adapters/mikro-orm/transaction.ts';
import type { DatabaseOptions } from './orm-options.ts';

/** The parts of PGlite that are used here. */
type Queries = { query(...given: readonly unknown[]): Promise<unknown> };
type Pglite = Queries & { transaction<Result>(work: (transaction: Queries) => Promise<Result>): Promise<Result> };

/** How a unit of work gets its transaction. */
export const transactions = (em: SqlEntityManager, { kind }: Pick<DatabaseOptions, 'kind'>): Transact =>
  kind === 'embedded' ? onPglite(em) : onPostgresql(em);

/** Milliseconds between two statements of a transaction: longer than anything that a unit of work waits for besides the database. */
const IDLE_LIMIT = 10_000;

/**
 * Kysely's transaction: one of MikroORM (7.2.1) keeps its connection out of the pool for ever when the connection breaks meanwhile. READ
 * COMMITTED, whatever the default of the database is: each statement sees what was committed before it. The server ends a transaction
 * whose process is gone and whose connection nobody has closed; otherwise what it has locked would stay locked for hours.
 */
const onPostgresql =
  (em: SqlEntityManager): Transact =>
  (work) =>
    em
      .getKysely<Tables>()
      .transaction()
      .setIsolationLevel('read committed')
      .execute(async (transaction) => {
        await transaction.executeQuery(LIMIT_IDLE_TIME);
        return work(within(em, transaction));
      });

/** The entity manager of a transaction. */
const within = (em: SqlEntityManager, transaction: Kysely<Tables>): DatabaseAccess => {
  const fork = em.fork();
  fork.setTransactionContext(transaction);
  return { em: fork };
};

/** For this transaction alone: behind a pooler, somebody else gets the session next (ADR 0031). */
const LIMIT_IDLE_TIME = CompiledQuery.raw(`set local idle_in_transaction_session_timeout = ${IDLE_LIMIT}`);

/**
 * PGlite's own transaction, which other queries wait for. Kysely has one connection to PGlite, so that the queries of all callers would
 * become part of a transaction of Kysely's.
 */
const onPglite =
  (em: SqlEntityManager): Transact =>
  async (work) => {
    // The driver of PGlite has this method; the type of a connection, which all drivers share, does not.
    const pglite = await (em.getConnection() as unknown as { getNativeClient(): Promise<Pglite> }).getNativeClient();
    return pglite.transaction((transaction) =>
      work(within(em, new Kysely<Tables>({ dialect: dialectOver(transaction) }))),
    );
  };

/** The dialect uses no more of a PGlite than this. */
const dialectOver = (transaction: Queries): PGliteDialect => {
  const pglite = { query: transaction.query.bind(transaction), closed: false, ready: true };
  return new PGliteDialect({ pglite: pglite as unknown as PGliteDialectConfig['pglite'] });
};
