import { pino } from 'pino';
import { systemClock } from '../../../adapters/clock/system.ts';
import { ulidGenerator } from '../../../adapters/id-generator/ulid.ts';
import { randomLinkTokens } from '../../../adapters/link-tokens/random.ts';
import type { Notice } from '../../../domain/message.ts';
import { CommandError } from '../../command-error.ts';
import type { Overrides } from '../../compose/ports.ts';
import { openStorage } from '../../compose/storage.ts';
import type { Config } from '../../config.ts';
import { hasDatabase, lockHolder } from '../../data-dir/data-dir-lock.ts';
import { createLogger } from '../../logging/logger.ts';

export type Accounts = Awaited<ReturnType<typeof openAccounts>>;

/** The overrides that the command uses. */
export type StorageOverrides = Pick<Overrides, 'storage' | 'ports'>;

const STANDARD_ERROR = 2;

/**
 * Opens the storage of the configuration, also while instances of the service run. The audit log goes to standard error.
 * @param overrides the caller's storage, in place of the configured one, and other ports
 * @throws CommandError, or Error that names the setting at fault
 */
export const openAccounts = async (
  config: Config,
  { storage: given, ports: overrides = {} }: StorageOverrides = {},
) => {
  if (given === undefined) assertPresent(config);
  const { logLevel: level, environment } = config;
  const destination = pino.destination(STANDARD_ERROR);
  const logger = createLogger({ level, environment, destination });
  // The service and `npm run migrate` change the schema; this command does not.
  const { storage, close } = await openStorage(
    { ...config, migrateOnStart: false, databaseWarnings: [] },
    logger,
    given,
  );
  const clock = overrides.clock ?? systemClock;
  const { mailer = config.mail } = overrides;
  const settings = {
    notices: mailer === null ? new Set<Notice>() : config.notices,
    accountPagesUrl: config.accountPagesUrl,
    hasPages: config.mail !== null || !config.ownAccountPages,
  };
  const ports = {
    clock,
    ids: overrides.ids ?? ulidGenerator(clock),
    linkTokens: overrides.linkTokens ?? randomLinkTokens(),
  };
  return { ...storage, ...ports, ...settings, close };
};

/** @throws CommandError when there is no database, or it belongs to another process. */
const assertPresent = ({ database, dataDir }: Config): void => {
  if (database.kind !== 'embedded') return;
  const holder = lockHolder(dataDir);
  if (holder !== null)
    throw new CommandError(
      'database-in-use',
      `Process ${holder}, probably the service, holds the embedded database in DATA_DIR (${dataDir}). Stop it first. On PostgreSQL, this command works beside the service.`,
      1,
    );
  if (!hasDatabase(dataDir))
    throw new CommandError(
      'no-database',
      `There is no embedded database in DATA_DIR (${dataDir}), and DATABASE_URL is unset.`,
      1,
    );
};
