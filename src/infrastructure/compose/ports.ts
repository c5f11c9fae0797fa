import type { Logger } from 'pino';
import { ulidGenerator } from '../../adapters/clock/system.ts';
import { nodeCryptoTokenSigner, rememberingTokenSigner } from '../../adapters/crypto/jws.ts';
import { isCommonPassword, leakedPasswordsAt, leakedPasswordsInFile } from '../../adapters/crypto/known-passwords.ts';
import { hashingThreads, passwordHasher } from '../../adapters/crypto/password-hasher.ts';
import { verifyBrowserProof, verifyDeviceProof } from '../../adapters/crypto/proofs.ts';
import { secretsWith } from '../../adapters/crypto/secrets.ts';
import { jwks } from '../../adapters/crypto/token-keys.ts';
import { limitedHook } from '../../adapters/hooks/bounded.ts';
import type { Check } from '../../adapters/http/request/settings.ts';
import type { Route } from '../../adapters/http/routing/define-route.ts';
import { countAttempts } from '../../adapters/limits/login-attempts.ts';
import { outageLog } from '../../adapters/log/lines.ts';
import type { OwnTables, RowsOf } from '../../adapters/records/own-tables.ts';
import { simpleWebAuthn } from '../../adapters/webauthn/simplewebauthn.ts';
import type { Clock } from '../../application/ports/clock-and-ids.ts';
import type { Hooks, ObserveHook } from '../../application/ports/hooks.ts';
import type { Proofs } from '../../application/ports/proofs.ts';
import type { Secrets } from '../../application/ports/secrets.ts';
import type { Ports } from '../../application/service.ts';
import type { OwnRecords, Storage, Stores } from '../../application/storage/records.ts';
import type { PasswordRules } from '../../domain/password.ts';
import type { Config } from '../config.ts';
import { openMailer } from '../delivery.ts';
import { loadOrCreateKeys, newPair, openFactorKeys } from '../keys.ts';
import type { Limits } from './limits.ts';

/**
 * Adapters that replace those of the service, except the storage. `secrets` and `proofs` have only the members to replace. With `tokens`, unless a
 * function returns them, the service publishes no keys: publish yours. If no keys are set either, also replace `secrets.sign` and `unsign`, so that instances
 * accept each other's signed values. `hasher` and `attempts` also replace the limits on waiting and on wrong passwords. `mailer: null`: no mail. Without
 * `clock`, the service compares times in the caller's storage with the clock of this machine: if several machines use it, pass the clock of its server.
 */
export type PortOverrides = Partial<Omit<Ports, keyof Storage | 'secrets' | 'proofs'>> & {
  readonly secrets?: Partial<Secrets>;
  readonly proofs?: Partial<Proofs>;
};

type WithRecords<Part, Own extends OwnTables> = Omit<Part, 'records'> & { readonly records: OwnRecords<RowsOf<Own>> };

/** The ports that routes of an application get. Their `records`, also in a transaction, have only the tables of the application. */
export type ServiceWith<Own extends OwnTables> = WithRecords<Omit<Ports, 'transactions'>, Own> & {
  readonly transactions: { run<Result>(work: (stores: WithRecords<Stores, Own>) => Promise<Result>): Promise<Result> };
};

/**
 * Replacements for parts of the service. ADR 0019.
 *
 * @example
 * const stop = await serve(parseConfig(process.env), { storage, close: () => db.close() });
 */
export type Overrides<Own extends OwnTables = OwnTables> = {
  /**
   * The storage, in place of the database of DATABASE_URL; or a function that makes one over the storage of that database. The storage and its
   * `sessions` have to be plain objects, since the service spreads their members: methods of a class would be lost.
   */
  readonly storage?: Storage | ((defaults: Storage) => Storage);
  /** Adapters of other ports; or a function that makes them from those of the service. With a function, the service publishes its keys. */
  readonly ports?: PortOverrides | ((defaults: Ports) => PortOverrides);
  /** Tables of the application, which its routes use as `records`: docs/extend.md. */
  readonly tables?: Own;
  /** Routes of the application, made with `route`: docs/extend.md. */
  routes?(service: ServiceWith<Own>): readonly Route[];
  /** Functions that decide about registrations, add claims to access tokens, or are told of events: docs/extend.md. */
  readonly hooks?: Hooks;
  /** Further checks of `GET /health/ready`, for instance whether the storage responds. */
  readonly checks?: readonly Check[];
  /** Closes the storage. It is called once in each process: after the last response, or if the start fails. */
  readonly close?: () => Promise<void> | void;
  /**
   * Whether SIGTERM and SIGINT stop the service, and then end the process unless the program listens to the signals, too. Default: `true`. With
   * `false`, the program has to call the function that `serve` returns.
   */
  readonly stopsAtSignals?: boolean;
};

/** The part of REQUEST_TIMEOUT_MS for which a password may wait to be hashed. */
const HASHING_WAIT = 1 / 3;

type PortOptions = {
  readonly overrides: Overrides['ports'];
  readonly storage: Storage;
  readonly clock: Clock;
  readonly observeHook?: ObserveHook | undefined;
} & Pick<Limits, 'counts' | 'hashOf'>;

export const openPorts = async (config: Config, logger: Logger, parts: PortOptions) => {
  const { storage, counts, hashOf, overrides: portOverrides = {} } = parts;
  const overrides: PortOverrides = typeof portOverrides === 'function' ? {} : portOverrides;
  const hasher = passwordHasher({
    scheme: config.passwordHash,
    cost: config.bcryptCost,
    maxWait: config.requestTimeoutMs * HASHING_WAIT,
    runner: hashingThreads(config.workers),
  });
  const clock = overrides.clock ?? parts.clock;
  const { tokens, keySet, signingKey } = await openTokens(config, overrides);
  const factors = overrides.secrets?.factors === undefined ? await openFactorKeys(config) : null;
  const mailer = overrides.mailer === undefined ? await openMailer(config, logger, clock) : overrides.mailer;
  const defaults: Ports = {
    tokens,
    webauthn: simpleWebAuthn(config.webauthn),
    hasher,
    isCommonPassword: config.passwordBlocklist === 'common' ? isCommonPassword : null,
    isLeakedPassword: await openLeakedPasswords(config, logger, parts.observeHook),
    attempts: countAttempts(counts, clock, hashOf),
    clock,
    ids: ulidGenerator(clock),
    proofs: { verifyDevice: verifyDeviceProof, verifyBrowser: verifyBrowserProof },
    secrets: secretsWith({ signing: signingKey, factors }),
    ...storage,
    mailer,
  };
  const { proofs, secrets, ...others } = typeof portOverrides === 'function' ? portOverrides(defaults) : portOverrides;
  const ports: Ports = {
    ...{ ...withDefaults(others, defaults), ...storage },
    proofs: withDefaults(proofs, defaults.proofs),
    secrets: withDefaults(secrets, defaults.secrets),
  };
  return { ports, keySet, hashing: hasher.load };
};

/** Members that are `undefined` count as missing, since a caller's compiler options may allow them. */
const withDefaults = <Members extends object>(replacements: Partial<Members> = {}, defaults: Members): Members => ({
  ...defaults,
  ...Object.fromEntries(Object.entries(replacements).filter(([, member]) => member !== undefined)),
});

/** The signer of tokens, and the keys. If the caller passes a signer, the key set is empty, and without configured keys a new key signs other values. */
const openTokens = async (
  { keys: given, dataDir, jwtIssuer: issuer, jwtAudience: audience }: Config,
  { tokens }: PortOverrides,
) => {
  if (tokens !== undefined)
    return { tokens, keySet: { keys: [] }, signingKey: given?.refresh.privateKey ?? newPair().privateKey };
  const keys = given ?? (await loadOrCreateKeys(dataDir));
  return {
    tokens: rememberingTokenSigner(await nodeCryptoTokenSigner(keys, { issuer, audience })),
    keySet: await jwks(keys.access),
    signingKey: keys.refresh.privateKey,
  };
};

const LOOK_UP_TIMEOUT = 2_000;

const LOOK_UP = {
  unavailable: 'passwords are not looked up among leaked ones',
  available: 'passwords are looked up among leaked ones again',
};

/** After a failed look-up, a password counts as not leaked. @throws Error if the file cannot be read, or is no list of leaked passwords */
const openLeakedPasswords = async (
  { leakedPasswordsFile: file, leakedPasswordsUrl: url }: Config,
  logger: Logger,
  observe: ObserveHook = () => undefined,
): Promise<PasswordRules['isLeakedPassword']> => {
  if (file === null && url === null) return null;
  const hook = file === null ? leakedPasswordsAt(url ?? '') : await leakedPasswordsInFile(file);
  const options = { timeout: LOOK_UP_TIMEOUT, hook, read: Boolean, isRefusal: Boolean };
  const lookUp = limitedHook({ name: 'leaked-passwords', ...options }, observe);
  const outage = outageLog(logger, LOOK_UP);
  return async (password) => {
    try {
      const isLeaked = await lookUp(password);
      outage.succeeded();
      return isLeaked;
    } catch (error) {
      outage.failed(error);
      return false;
    }
  };
};
