import { join } from 'node:path';
import type { SqlEntityManager } from '@mikro-orm/sql';
import { CompiledQuery, Kysely, PGliteDialect, type PGliteDialectConfig } from 'kysely';
import type { Logger } from 'pino';
import { systemClock } from '../../adapters/clock/system.ts';
import { mikroOrmEventRepository } from '../../adapters/event-repository/mikro-orm.ts';
import { mikroOrmFactorRepository } from '../../adapters/factor-repository/mikro-orm.ts';
import type { Check } from '../../adapters/http/routes/check.ts';
import { mikroOrmLinkRepository } from '../../adapters/link-repository/mikro-orm.ts';
import type { Readings } from '../../adapters/metrics/prometheus.ts';
import { readTime } from '../../adapters/mikro-orm/clock.ts';
import { type DatabaseAccess, outsideOfTransactions, type Transact } from '../../adapters/mikro-orm/queries.ts';
import type { Tables } from '../../adapters/mikro-orm/rows.ts';
import { mikroOrmOutbox } from '../../adapters/outbox/mikro-orm.ts';
import { mikroOrmPasskeyRepository } from '../../adapters/passkey-repository/mikro-orm.ts';
import { mikroOrmRememberedDeviceRepository } from '../../adapters/remembered-device-repository/mikro-orm.ts';
import { keepReading, serverClock } from '../../adapters/resilience/server-clock.ts';
import { mikroOrmSessionRepository } from '../../adapters/session-repository/mikro-orm.ts';
import { mikroOrmUnitOfWork } from '../../adapters/unit-of-work/mikro-orm.ts';
import { mikroOrmUsedValues } from '../../adapters/used-values/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../adapters/user-repository/mikro-orm.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Storage, Stores } from '../../application/ports/unit-of-work.ts';
import type { DatabaseOptions } from '../config/stores.ts';
import { type Database, nativeClientOf, openDatabase } from '../database/database.ts';

/** The parts of PGlite that are used here. */
type Queries = { query(...given: readonly unknown[]): Promise<unknown> };
type Pglite = Queries & { transaction<Result>(work: (transaction: Queries) => Promise<Result>): Promise<Result> };

/** How to run a transaction on a kind of database. */
export const transactions = (em: SqlEntityManager, { kind }: Pick<DatabaseOptions, 'kind'>): Transact =>
  kind === 'embedded' ? onPglite(em) : onPostgresql(em);

/** Milliseconds between two statements of a transaction. A unit of work never waits that long. */
const IDLE_LIMIT = 10_000;

/**
 * A transaction of Kysely: MikroORM's (7.2.1) loses its connection from the pool for ever if the connection breaks. READ COMMITTED, whatever
 * the default of the database: each statement sees what was committed before it. The server ends a transaction whose client is gone, so that
 * its locks do not stay for hours.
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

const within = (em: SqlEntityManager, transaction: Kysely<Tables>): DatabaseAccess => {
  const fork = em.fork();
  fork.setTransactionContext(transaction);
  return { em: fork };
};

/** For this transaction only: behind a pooler, the session goes to other clients afterwards (ADR 0017). */
const LIMIT_IDLE_TIME = CompiledQuery.raw(`set local idle_in_transaction_session_timeout = ${IDLE_LIMIT}`);

/**
 * A transaction of PGlite, for whose end other queries wait. Kysely has a single connection to PGlite: the queries of all callers would
 * become part of its transaction.
 */
const onPglite =
  (em: SqlEntityManager): Transact =>
  async (work) => {
    const pglite = await nativeClientOf<Pglite>(em);
    return pglite.transaction((transaction) =>
      work(within(em, new Kysely<Tables>({ dialect: dialectOver(transaction) }))),
    );
  };

/** The dialect uses only these members of a PGlite. */
const dialectOver = (transaction: Queries): PGliteDialect => {
  const pglite = { query: transaction.query.bind(transaction), closed: false, ready: true };
  return new PGliteDialect({ pglite: pglite as unknown as PGliteDialectConfig['pglite'] });
};

/** The stores over a database, or over one transaction of it. */
export const sqlStores = (db: DatabaseAccess): Stores => ({
  users: mikroOrmUserRepository(db),
  sessions: mikroOrmSessionRepository(db),
  events: mikroOrmEventRepository(db),
  links: mikroOrmLinkRepository(db),
  outbox: mikroOrmOutbox(db),
  used: mikroOrmUsedValues(db),
  passkeys: mikroOrmPasskeyRepository(db),
  factors: mikroOrmFactorRepository(db),
  devices: mikroOrmRememberedDeviceRepository(db),
});

type OpenContext = {
  readonly migrate: boolean;
  /** Called before a database is created, if that takes seconds. */
  readonly onCreate: () => void;
  /** Gets lines about backups and checkpoints of the embedded database. */
  readonly logger: Pick<Logger, 'info' | 'warn'>;
};

export type OpenStorage = Omit<Storage, 'sessions'> & {
  /** @param budget milliseconds after the call, within which a rotation happens or never will. ADR 0022. */
  readonly sessionsWithin: (options: { readonly budget: number }) => SessionRepository;
  readonly checks: readonly Check[];
  /** Judges the times that are stored: that of the server, or of this machine. */
  readonly clock: Clock;
  readonly connections: Readings['databaseConnections'];
  readonly close: () => Promise<void>;
};

/** Opens a database with MikroORM. @throws Error that names the variable at fault, and the reason. */
export const openSql = async (options: DatabaseOptions, context: OpenContext): Promise<OpenStorage> => {
  const { em, ping, connections, close } = await openForService(options, context);
  const db = outsideOfTransactions(em);
  const { sessions: _, ...stores } = sqlStores(db);
  const clock = serverClock(() => readTime(db));
  const isRemote = options.kind === 'postgresql';
  if (isRemote) await clock.read().catch(() => undefined);
  const stopReading = isRemote ? keepReading(clock) : () => undefined;
  return {
    ...stores,
    unitOfWork: mikroOrmUnitOfWork(transactions(em, options), sqlStores),
    sessionsWithin: (options) => mikroOrmSessionRepository(db, { ...options, clock }),
    checks: [{ name: 'database', ping, required: true }],
    clock: isRemote ? clock : systemClock,
    connections,
    close: () => {
      stopReading();
      return close();
    },
  };
};

/**
 * Opens a database for the service. For an embedded one, the service also makes backups and checkpoints: no other process can back it up
 * meanwhile.
 */
export const openForService = async (options: DatabaseOptions, context: OpenContext): Promise<Database> => {
  const database = await openDatabase(options, context);
  if (options.kind !== 'embedded') return database;
  const [{ withDumps }, { withCheckpoints }] = await Promise.all([
    import('../data/dump.ts'),
    import('../database/checkpoints.ts'),
  ]);
  const { logger } = context;
  const { dataDir } = options;
  return withDumps(withCheckpoints(database, { directory: join(dataDir, 'database'), logger }), dataDir, logger);
};

export const migrateSql = async (options: DatabaseOptions, onCreate: () => void): Promise<void> => {
  const { close } = await openDatabase(options, { migrate: true, onCreate });
  await close();
};
