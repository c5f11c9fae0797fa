import type { Check } from '../../adapters/http/routes/service/check.ts';
import type { BrowserProofs } from '../../application/ports/browser-proofs.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { DeviceProofs } from '../../application/ports/device-proofs.ts';
import type { DeviceSeals } from '../../application/ports/device-seals.ts';
import type { FactorSecrets } from '../../application/ports/factor-secrets.ts';
import type { IdGenerator } from '../../application/ports/id-generator.ts';
import type { LinkTokens } from '../../application/ports/link-tokens.ts';
import type { LoginAttempts } from '../../application/ports/login-attempts.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import type { OneTimePasswords } from '../../application/ports/one-time-passwords.ts';
import type { PasswordBlocklist } from '../../application/ports/password-blocklist.ts';
import type { PasswordHasher } from '../../application/ports/password-hasher.ts';
import type { TokenSigner } from '../../application/ports/token-signer.ts';
import type { Storage } from '../../application/ports/unit-of-work.ts';
import type { WebAuthn } from '../../application/ports/webauthn.ts';

export type Ports = Storage & {
  readonly linkTokens: LinkTokens;
  /** `null`: no mail is sent, and there are no routes that need it. */
  readonly mailer: Mailer | null;
  readonly tokens: TokenSigner;
  readonly proofs: DeviceProofs;
  readonly browserProofs: BrowserProofs;
  readonly seals: DeviceSeals;
  readonly webauthn: WebAuthn;
  /** `null`: there are no authenticator apps, and no routes for them. */
  readonly factorSecrets: FactorSecrets | null;
  readonly oneTimePasswords: OneTimePasswords;
  readonly hasher: PasswordHasher;
  /** `null`: every password that is long enough is accepted. */
  readonly blocklist: PasswordBlocklist | null;
  readonly attempts: LoginAttempts;
  readonly clock: Clock;
  readonly ids: IdGenerator;
};

/**
 * Replacements for parts of the service. ADR 0019.
 *
 * @example
 * const stop = await serve(parseConfig(process.env), { storage, close: () => db.close() });
 */
export type Overrides = {
  /** With it, no database is opened. A plain object, since its members are spread. */
  readonly storage?: Storage;
  /**
   * Adapters of other ports. With `tokens`, the key set of the service is empty: publish the keys yourself. Instances without the keys of
   * the service need `seals` too, which all of them open. `hasher` and `attempts` also
   * replace the limits on waiting and on wrong passwords. With `mailer: null` there is no mail. Without `clock`, a storage of the caller's is
   * judged by the clock of this machine: pass that of its server if several machines use it.
   */
  readonly ports?: Partial<Omit<Ports, keyof Storage>>;
  /** Further checks of `GET /health/ready`, for instance whether the storage responds. */
  readonly checks?: readonly Check[];
  /** Closes the storage. Called once: after the last response, or when the start fails. */
  readonly close?: () => Promise<void> | void;
};
