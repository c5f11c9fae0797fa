import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { randomSecrets } from '../../../adapters/crypto/secrets.ts';
import { ulidGenerator } from '../../../adapters/crypto/ulid.ts';
import { auditLog } from '../../../adapters/log/lines.ts';
import type { Clock } from '../../../application/ports/clock-and-ids.ts';
import type { LoginAttempts } from '../../../application/ports/login-attempts.ts';
import type { Notice } from '../../../domain/happenings.ts';
import { type Closing, closing } from '../../closing.ts';
import { CommandError } from '../../command-error.ts';
import type { Overrides, PortOverrides } from '../../compose/ports.ts';
import { openStorage } from '../../compose/storage.ts';
import type { Env } from '../../config/variables.ts';
import { type Config, parseConfig } from '../../config.ts';
import { openLog } from '../../logging/log.ts';
import type { Answer } from '../command.ts';

/** What counts wrong passwords for all instances, which is opened when it is used; `null` if each counts by itself. */
const attemptsOf = (
  config: Config,
  logger: Logger,
  opened: Closing,
  { attempts, clock }: PortOverrides & { readonly clock: Clock },
): Pick<LoginAttempts, 'forget'> | null => {
  if (attempts !== undefined) return attempts;
  if (config.redisUrls.length === 0) return null;
  let counting: Promise<LoginAttempts> | undefined;
  const open = async () => {
    // No other command needs them.
    const { openLimits } = await import('../../compose/limits.ts');
    const { countAttempts } = await import('../../../adapters/limits/login-attempts.ts');
    const { counts, hashOf } = await openLimits(config, logger, opened);
    return countAttempts(counts, clock, hashOf);
  };
  return {
    async forget(key) {
      counting ??= open();
      await (await counting).forget?.(key);
    },
  };
};

export type Accounts = Awaited<ReturnType<typeof openAccounts>>;

/** The overrides that the command uses. */
export type StorageOverrides = Pick<Overrides, 'storage'> & { readonly ports?: PortOverrides };

/**
 * Opens the storage of the configuration, also while instances of the service run. The audit log goes to standard error.
 * @param overrides the caller's storage, in place of the configured one, and other ports
 * @throws CommandError, or Error that names the setting at fault
 */
const openAccounts = async (config: Config, { storage: given, ports: overrides = {} }: StorageOverrides = {}) => {
  const { database, mail } = config;
  if (given === undefined && database.kind === 'sqlite' && !existsSync(database.path))
    throw new CommandError(
      'no-database',
      `There is no database ${database.path}. Start the service once, or run \`npx tandem migrate\`.`,
      1,
    );
  const opened = closing();
  const log = await openLog(config, 'stderr');
  opened.add(log.close);
  // The service and `npx tandem migrate` change the schema; this command does not.
  const withoutChanges = { ...config, migrateOnStart: false, databaseWarnings: [] };
  const listeners = { onEvents: auditLog(log.logger) };
  const own = given === undefined ? {} : { storage: given };
  const stored = await openStorage(withoutChanges, log.logger, listeners, own).catch(async (error: unknown) => {
    await opened.closeAll();
    throw error;
  });
  opened.add(stored.close);
  const clock = overrides.clock ?? stored.clock;
  const { mailer = mail } = overrides;
  return {
    ...stored.storage,
    clock,
    ids: overrides.ids ?? ulidGenerator(clock),
    secrets: { ...randomSecrets, ...overrides.secrets },
    attempts: attemptsOf(config, log.logger, opened, { ...overrides, clock }),
    registration: config.registration,
    notices: mailer === null ? new Set<Notice>() : config.notices,
    accountPagesUrl: config.accountPagesUrl,
    hasMail: mailer !== null,
    hasPages: mail !== null || !config.ownAccountPages,
    close: opened.closeAll,
  };
};

/** Opens the accounts for a piece of work, and closes them. */
export const withAccounts =
  (overrides?: StorageOverrides) =>
  async (env: Env, work: (accounts: Accounts, config: Config) => Promise<Answer>): Promise<Answer> => {
    const config = parseConfig(env);
    const accounts = await openAccounts(config, overrides);
    return work(accounts, config).finally(accounts.close);
  };
export type Opening = ReturnType<typeof withAccounts>;
