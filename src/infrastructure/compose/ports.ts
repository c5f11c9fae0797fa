import type { Check } from '../../adapters/http/routes/health.ts';
import { rotationBudgets } from '../../adapters/session-repository/rotation-recovery/deadlines.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { IdGenerator } from '../../application/ports/id-generator.ts';
import type { LinkTokens } from '../../application/ports/link-tokens.ts';
import type { LoginAttempts } from '../../application/ports/login-attempts.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import type { PasswordBlocklist } from '../../application/ports/password-blocklist.ts';
import type { PasswordHasher } from '../../application/ports/password-hasher.ts';
import type { TokenSigner } from '../../application/ports/token-signer.ts';
import type { Storage } from '../../application/ports/unit-of-work.ts';
import type { Config } from '../config.ts';

/** The ports of the application. */
export type Ports = Storage & {
  readonly linkTokens: LinkTokens;
  /** `null`: no mail is sent, and there are no routes that need it. */
  readonly mailer: Mailer | null;
  readonly tokens: TokenSigner;
  readonly hasher: PasswordHasher;
  /** `null`: every password that is long enough is accepted. */
  readonly blocklist: PasswordBlocklist | null;
  readonly attempts: LoginAttempts;
  readonly clock: Clock;
  readonly ids: IdGenerator;
};

/** What a caller of `serve` brings, in place of the service's own. ADR 0029. */
export type OwnParts = {
  /** With it, no database is opened. Its members are its own, not those of a class. Its sessions have to rotate within `rotationBudget(config)`, or not at all. */
  readonly storage?: Storage;
  /**
   * Adapters for some of the other ports. With `tokens`, the key set of the service is empty: publish the keys yourself. `hasher` and
   * `attempts` also replace the limits on waiting passwords and on wrong ones. With `mailer: null` there is no mail.
   */
  readonly ports?: Partial<Omit<Ports, keyof Storage>>;
  /** Whether their stores respond: `GET /health/ready` runs these checks besides the service's. */
  readonly checks?: readonly Check[];
  /** Closes their stores. Called once: after the last response, or when the start fails. */
  readonly close?: () => Promise<void> | void;
};

/**
 * Milliseconds that `rotate` of a storage of the caller's own may take: a rotation that has not happened by then must never happen.
 * ADR 0022.
 */
export const rotationBudget = ({ requestTimeout }: Pick<Config, 'requestTimeout'>): number =>
  rotationBudgets(requestTimeout).rotation;
