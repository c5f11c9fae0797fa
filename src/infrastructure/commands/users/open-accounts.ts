import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { ulidGenerator } from '../../../adapters/clock/system.ts';
import { randomSecrets } from '../../../adapters/crypto/secrets.ts';
import { typedAccount } from '../../../adapters/json/fields.ts';
import { auditLog } from '../../../adapters/log/lines.ts';
import type { Clock } from '../../../application/ports/clock-and-ids.ts';
import type { LoginAttempts } from '../../../application/ports/login-attempts.ts';
import type { NoticeGroup } from '../../../domain/event-table.ts';
import { accountKind, isId, type User } from '../../../domain/user.ts';
import { closingOnFailure, type OpenedParts } from '../../closing.ts';
import { CommandError, invalidArguments } from '../../command-error.ts';
import type { Overrides, PortOverrides } from '../../compose/ports.ts';
import { openStorage } from '../../compose/storage.ts';
import type { Env } from '../../config/variables.ts';
import { type Config, parseConfig } from '../../config.ts';
import { openLog } from '../../logging/log.ts';
import { printable } from '../../texts.ts';
import type { Answer } from '../command.ts';

/** The counts of wrong passwords: the caller's, or those in Redis, which is opened when they are first used; `null` without either. */
const attemptsOf = (
  config: Config,
  logger: Logger,
  opened: OpenedParts,
  { attempts, clock }: PortOverrides & { readonly clock: Clock },
): Pick<LoginAttempts, 'forget'> | null => {
  if (attempts !== undefined) return attempts;
  if (config.redisUrl === null) return null;
  const open = async () => {
    // Loaded here, since few commands need the limits.
    const { openLimits } = await import('../../compose/limits.ts');
    const { countAttempts } = await import('../../../adapters/limits/login-attempts.ts');
    const { counts, hashOf } = await openLimits(config, logger, opened);
    return { counts, attempts: countAttempts(counts, clock, hashOf) };
  };
  let limits: ReturnType<typeof open> | undefined;
  return {
    async forget(key) {
      limits ??= open();
      const { counts, attempts } = await limits;
      await attempts.forget?.(key);
      if (counts.isDegraded()) throw new CommandError('redis', 'Redis does not answer: the user is not unlocked.', 1);
    },
  };
};

export type Accounts = Awaited<ReturnType<typeof openAccounts>>;

export type StorageOverrides = Pick<Overrides, 'storage'> & { readonly ports?: PortOverrides };

/** Opens the storage beside running instances. The audit log goes to standard error. @throws CommandError; Error that says why it cannot */
const openAccounts = (config: Config, { storage: customStorage, ports: overrides = {} }: StorageOverrides = {}) =>
  closingOnFailure(async (opened) => {
    const { database, mail, registration, accountPagesUrl, resetLinkHandOver } = config;
    if (customStorage === undefined && database.kind === 'sqlite' && !existsSync(database.path)) {
      const advice = 'Start the service once, or run `npx tandem migrate`.';
      throw new CommandError('no-database', `There is no database ${database.path}. ${advice}`, 1);
    }
    const log = await openLog(config, 'stderr');
    opened.add(log.close);
    // The commands that come here do not change the schema, so an outdated one is reported.
    const configWithoutMigration = { ...config, migrateOnStart: false, databaseWarnings: [] };
    const listeners = { onEvents: auditLog(log.logger) };
    const openedStorage = await openStorage(
      configWithoutMigration,
      log.logger,
      listeners,
      customStorage ? { storage: customStorage } : {},
    );
    opened.add(openedStorage.close);
    const clock = overrides.clock ?? openedStorage.clock;
    const { mailer = mail } = overrides;
    return {
      ...openedStorage.storage,
      ids: overrides.ids ?? ulidGenerator(clock),
      secrets: { ...randomSecrets, ...overrides.secrets },
      attempts: attemptsOf(config, log.logger, opened, { ...overrides, clock }),
      ...{ clock, registration, accountPagesUrl, resetLinkHandOver },
      mailNotices: mailer === null ? new Set<NoticeGroup>() : config.mailNotices,
      hasMail: mailer !== null,
      close: opened.closeAll,
    };
  });

export const withAccounts =
  (overrides?: StorageOverrides) => async (env: Env, work: (accounts: Accounts, config: Config) => Promise<Answer>) => {
    const config = parseConfig(env);
    const accounts = await openAccounts(config, overrides);
    return work(accounts, config).finally(accounts.close);
  };
export type WithAccounts = ReturnType<typeof withAccounts>;

export const nameOf = ({ username, email, id }: Pick<User, 'username' | 'email' | 'id'>): string =>
  printable(`${username} <${email}> (${id})`);

/** Normalizes the argument USER, before the database is opened. @throws CommandError if it is empty */
export const accountIn = (text: string): string => {
  const account = typedAccount(text);
  if (account === '') throw invalidArguments('USER is empty.');
  return account;
};

export const findUser = async ({ users }: Pick<Accounts, 'users'>, account: string): Promise<User> => {
  const id = account.toUpperCase();
  const byId = isId(id) ? await users.findById(id) : null;
  const byName = await (accountKind(account) === 'email' ? users.findByEmail(account) : users.findByUsername(account));
  // Usernames with the form of an id are refused, but earlier versions have accepted them.
  if (byId !== null && byName !== null && byId.id !== byName.id) {
    const both = `This is the id of ${nameOf(byId)}, and the name of ${nameOf(byName)}.`;
    throw new CommandError('ambiguous', `${both} Give the email address of the one that you mean.`, 2);
  }
  const user = byId ?? byName;
  if (user === null) throw new CommandError('not-found', 'There is no user with this username, email address or id.');
  return user;
};
