import { DatabaseSync } from 'node:sqlite';
import { AppError, duplicateUser } from 'tandem';

/** Milliseconds that a statement waits while another process writes. SQLite waits on the main thread, which serves nobody meanwhile. */
const BUSY_TIMEOUT = 1_000;

/** The columns have the names of the members that they store. Times are epoch milliseconds. */
const SCHEMA = `
  create table if not exists users (
    id text primary key,
    username text not null unique collate nocase,
    email text not null unique,
    passwordHash text not null,
    createdAt integer not null,
    updatedAt integer not null,
    passwordChangedAt integer not null,
    emailVerifiedAt integer,
    disabledAt integer,
    secondFactorAt integer,
    attributes text not null,
    locale text
  ) strict;

  create table if not exists sessions (
    id text primary key,
    userId text not null references users (id) on delete cascade,
    currentTokenId text not null,
    previousTokenId text,
    rotatedAt integer not null,
    rotation integer not null,
    runStartedAt integer not null,
    runFirst integer not null,
    createdAt integer not null,
    expiresAt integer not null,
    userAgent text,
    address text,
    deviceKey text,
    browserKey text,
    proofs text not null,
    authenticatedAt integer not null,
    amr text not null,
    knownAt integer,
    heldAt integer
  ) strict;

  create index if not exists sessionsByUser on sessions (userId);
  create index if not exists sessionsByExpiry on sessions (expiresAt);

  create table if not exists events (
    id text primary key,
    userId text not null references users (id) on delete cascade,
    kind text not null,
    at integer not null,
    sessionId text,
    reason text,
    count integer not null,
    requestId text,
    userAgent text,
    address text,
    actor text,
    countedBy text,
    unique (userId, countedBy)
  ) strict;

  -- What operators did and the service has not logged yet, as JSON. It outlives the user.
  create table if not exists operations (
    id text primary key,
    event text not null
  ) strict;

  create index if not exists eventsByUser on events (userId, id);
  create index if not exists eventsByTime on events (at);

  create table if not exists links (
    userId text not null references users (id) on delete cascade,
    purpose text not null,
    tokenHash text not null,
    email text not null,
    since integer not null,
    createdAt integer not null,
    expiresAt integer not null,
    primary key (userId, purpose, since)
  ) strict;

  create index if not exists linksByToken on links (tokenHash);
  create index if not exists linksByEmail on links (email);
  create index if not exists linksByExpiry on links (expiresAt);

  create table if not exists outbox (
    id text primary key,
    kind text not null,
    userId text references users (id) on delete cascade,
    "to" text not null,
    email text,
    locale text,
    wasVerified integer not null,
    origin text not null,
    createdAt integer not null,
    attempts integer not null,
    nextAttemptAt integer not null,
    unclaimedRequest text unique
  ) strict;

  create index if not exists outboxByUser on outbox (userId);
  create index if not exists outboxByTime on outbox (nextAttemptAt);

  create table if not exists mailboxes (
    mailbox text primary key,
    refilledAt integer not null
  ) strict;

  create index if not exists mailboxesByTime on mailboxes (refilledAt);

  create table if not exists usedValues (
    id text primary key,
    expiresAt integer not null
  ) strict;

  create index if not exists usedValuesByExpiry on usedValues (expiresAt);

  create table if not exists passkeys (
    id text not null,
    userId text not null references users (id) on delete cascade,
    credentialId text primary key,
    publicKey text not null,
    userHandle text not null,
    counter integer not null,
    transports text not null,
    aaguid text not null,
    isSynced integer not null,
    isBackedUp integer not null,
    name text not null,
    createdAt integer not null,
    lastUsedAt integer
  ) strict;

  create index if not exists passkeysByUser on passkeys (userId, id);
  create table if not exists factors (
    id text primary key,
    userId text not null references users (id) on delete cascade,
    secret text not null,
    lastStep integer not null,
    createdAt integer not null,
    confirmedAt integer
  ) strict;

  create index if not exists factorsByUser on factors (userId, id);

  create table if not exists recoveryCodes (
    userId text not null references users (id) on delete cascade,
    hash text not null,
    primary key (userId, hash)
  ) strict;

  create table if not exists rememberedDevices (
    id text primary key,
    userId text not null references users (id) on delete cascade,
    createdAt integer not null,
    expiresAt integer not null,
    userAgent text,
    address text
  ) strict;

  create index if not exists rememberedDevicesByUser on rememberedDevices (userId);
  create index if not exists rememberedDevicesByExpiry on rememberedDevices (expiresAt);
`;

/** SQLite does not wait by itself while another process, which starts at the same time, changes the mode of the file. */
const useWriteAheadLog = (database: DatabaseSync): void => {
  const end = Date.now() + BUSY_TIMEOUT;
  for (;;)
    try {
      database.exec('pragma journal_mode = wal');
      return;
    } catch (error) {
      if (Date.now() >= end) throw error;
    }
};

/** Opens the file, and creates it and its tables if necessary. Several processes may do so at the same time. */
export const openDatabase = (path: string): DatabaseSync => {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT });
  useWriteAheadLog(database);
  // A commit is on the disk before it is acknowledged.
  database.exec('pragma synchronous = full');
  inTransaction(database, () => database.exec(SCHEMA));
  return database;
};

/** Takes the lock for writing at the beginning, so that what the work reads is still true when it writes. */
export const inTransaction = <Result>(database: DatabaseSync, work: () => Result): Result => {
  database.exec('begin immediate');
  try {
    const result = work();
    database.exec('commit');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
};

/** Extended result codes, https://sqlite.org/rescode.html. */
const PRIMARY_KEY_VIOLATION = 1555;
const UNIQUE_VIOLATION = 2067;

/**
 * Runs statements and translates their errors. The error of the driver is dropped: its message may quote stored values.
 * @throws AppError AUTH_USER_DUPLICATE, DB_UNIQUE_VIOLATION, DB_QUERY_FAILED
 */
export const translated = async <Result>(statements: () => Result): Promise<Result> => {
  try {
    return statements();
  } catch (error) {
    const {
      code,
      errcode,
      errstr = code,
      message,
    } = error as Error & { code?: string; errcode?: number; errstr?: string };
    const reason = `SQLite ${errcode ?? ''} (${errstr})`;
    // No statement violates another unique column. The message names the one that is taken.
    if (errcode === UNIQUE_VIOLATION)
      throw duplicateUser(message.endsWith('users.email') ? 'email' : 'username', reason);
    throw new AppError(errcode === PRIMARY_KEY_VIOLATION ? 'DB_UNIQUE_VIOLATION' : 'DB_QUERY_FAILED', { reason });
  }
};
