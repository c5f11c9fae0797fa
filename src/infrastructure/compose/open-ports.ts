import { EventEmitter } from 'node:events';
import type { Logger } from 'pino';
import { systemClock } from '../../adapters/clock/system.ts';
import { ulidGenerator } from '../../adapters/id-generator/ulid.ts';
import { randomLinkTokens } from '../../adapters/link-tokens/random.ts';
import { memoryLoginAttempts } from '../../adapters/login-attempts/memory.ts';
import { redisLoginAttempts, sharedLoginAttempts } from '../../adapters/login-attempts/redis.ts';
import { zxcvbnPasswordBlocklist } from '../../adapters/password-blocklist/zxcvbn.ts';
import { bcryptPasswordHasher } from '../../adapters/password-hasher/bcrypt.ts';
import { jwks, type PublicJwks } from '../../adapters/token-signer/jwks.ts';
import { nodeCryptoTokenSigner } from '../../adapters/token-signer/node-crypto.ts';
import { rememberingTokenSigner } from '../../adapters/token-signer/remembering.ts';
import { watchedOutbox, watchedUnitOfWork } from '../../adapters/unit-of-work/observed.ts';
import type { LoginAttempts } from '../../application/ports/login-attempts.ts';
import type { TokenSigner } from '../../application/ports/token-signer.ts';
import type { Storage } from '../../application/ports/unit-of-work.ts';
import type { Report, Reports } from '../../application/reports.ts';
import type { Config } from '../config.ts';
import { loadOrCreateKeys } from '../keys/keys.ts';
import { openMailer } from '../mail/open-mailer.ts';
import type { wakeUp } from '../mail/wake-up.ts';
import type { RedisClient } from '../redis.ts';
import type { OwnParts, Ports } from './ports.ts';

/** The share of the request time-out that a password may wait to be hashed. */
const HASHING_WAIT = 1 / 3;

type Opened = {
  readonly own: NonNullable<OwnParts['ports']>;
  readonly storage: Storage;
  readonly redis: RedisClient | null;
  /** Signalled when there is something to send. */
  readonly added: ReturnType<typeof wakeUp>;
};

/** The ports, those of the caller first. */
export const openPorts = async (config: Config, logger: Logger, { own, storage, redis, added }: Opened) => {
  const hasher = bcryptPasswordHasher({ cost: config.bcryptCost, maxWait: config.requestTimeout * HASHING_WAIT });
  const clock = own.clock ?? systemClock;
  const { tokens, keySet } = await openTokens(config, own);
  const mailer = own.mailer === undefined ? await openMailer(config, logger) : own.mailer;
  const { outbox, unitOfWork } = storage;
  const ports: Ports = {
    tokens,
    hasher,
    blocklist: config.passwordBlocklist === 'common' ? zxcvbnPasswordBlocklist() : null,
    attempts: countLoginAttempts(redis, logger),
    clock,
    ids: ulidGenerator(clock),
    linkTokens: randomLinkTokens(),
    ...own,
    ...storage,
    mailer,
    outbox: mailer === null ? outbox : watchedOutbox(outbox, added.wake),
    unitOfWork: mailer === null ? unitOfWork : watchedUnitOfWork(unitOfWork, added.wake),
  };
  return { ports, keySet, hashing: hasher.load };
};

/** An overriding signer has keys of its own, so that the key set is empty. */
const openTokens = async (
  config: Pick<Config, 'keys' | 'dataDir' | 'issuer' | 'audience'>,
  { tokens }: Partial<Ports>,
): Promise<{ tokens: TokenSigner; keySet: PublicJwks }> => {
  if (tokens !== undefined) return { tokens, keySet: { keys: [] } };
  const keys = config.keys ?? (await loadOrCreateKeys(config.dataDir));
  return {
    tokens: rememberingTokenSigner(
      await nodeCryptoTokenSigner(keys, { issuer: config.issuer, audience: config.audience }),
    ),
    keySet: await jwks(keys.access),
  };
};

/** Shared by all instances through Redis; counted in the process without one, or while it is unavailable. */
const countLoginAttempts = (redis: RedisClient | null, logger: Logger): LoginAttempts => {
  const own = memoryLoginAttempts();
  return redis === null ? own : sharedLoginAttempts({ shared: redisLoginAttempts(redis), own }, logger);
};

/** Where use cases report, and who listens. A listener that throws has no effect but a line in the log. */
export const openReports = (logger: Logger): { readonly reports: EventEmitter<Reports>; readonly report: Report } => {
  const reports = new EventEmitter<Reports>();
  // Its type allows names that are not declared as well.
  const emit = reports.emit.bind(reports) as Report;
  const report: Report = (name, ...details) => {
    try {
      emit(name, ...details);
    } catch (error) {
      logger.error({ err: error }, 'a report could not be recorded');
    }
  };
  return { reports, report };
};
