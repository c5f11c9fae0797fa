import type { Logger } from 'pino';
import { systemClock } from '../../adapters/clock/system.ts';
import { ulidGenerator } from '../../adapters/id-generator/ulid.ts';
import { randomLinkTokens } from '../../adapters/link-tokens/random.ts';
import { zxcvbnPasswordBlocklist } from '../../adapters/password-blocklist/zxcvbn.ts';
import { bcryptPasswordHasher } from '../../adapters/password-hasher/bcrypt.ts';
import { watchedOutbox, watchedUnitOfWork } from '../../adapters/unit-of-work/watched.ts';
import type { Config } from '../config.ts';
import type { bell } from '../mail/bell.ts';
import type { RedisClient } from '../redis.ts';
import { countLoginAttempts } from './login-attempts.ts';
import { openMailer } from './mailer.ts';
import type { OwnParts } from './own-parts.ts';
import type { Ports } from './ports.ts';
import type { openStorage } from './storage.ts';
import { openTokens } from './tokens.ts';

/** The share of the request time-out that a password may wait to be hashed. */
const HASHING_WAIT = 1 / 3;

type Opened = {
  readonly own: NonNullable<OwnParts['ports']>;
  readonly storage: Awaited<ReturnType<typeof openStorage>>;
  readonly redis: RedisClient | null;
  /** Rung when there is something to send. */
  readonly added: ReturnType<typeof bell>;
};

/** The ports, those of the caller first. */
export const openPorts = async (config: Config, logger: Logger, { own, storage, redis, added }: Opened) => {
  const hasher = bcryptPasswordHasher({ cost: config.bcryptCost, maxWait: config.requestTimeout * HASHING_WAIT });
  const clock = own.clock ?? systemClock;
  const { tokens, keySet } = await openTokens(config, own);
  const mailer = own.mailer === undefined ? await openMailer(config, logger) : own.mailer;
  const { users, sessions, events, links, outbox, unitOfWork } = storage;
  const ports: Ports = {
    tokens,
    hasher,
    blocklist: config.passwordBlocklist === 'common' ? zxcvbnPasswordBlocklist() : null,
    attempts: countLoginAttempts(redis, logger),
    clock,
    ids: ulidGenerator(clock),
    linkTokens: randomLinkTokens(),
    ...own,
    ...{ mailer, users, sessions, events, links },
    outbox: mailer === null ? outbox : watchedOutbox(outbox, added.ring),
    unitOfWork: mailer === null ? unitOfWork : watchedUnitOfWork(unitOfWork, added.ring),
  };
  return { ports, keySet, hashing: hasher.load };
};
