import type { Check } from '../../adapters/http/routes/service/health.ts';
import type { Clock, IdGenerator } from '../../application/ports/clock-and-ids.ts';
import type { LoginAttempts } from '../../application/ports/login-attempts.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import type { PasswordHasher } from '../../application/ports/password-hasher.ts';
import type { Proofs } from '../../application/ports/proofs.ts';
import type { Secrets } from '../../application/ports/secrets.ts';
import type { TokenSigner } from '../../application/ports/token-signer.ts';
import type { Storage } from '../../application/ports/transactions.ts';
import type { WebAuthn } from '../../application/ports/webauthn.ts';
import type { PasswordRuleDeps } from '../../domain/password.ts';

export type Ports = Storage &
  PasswordRuleDeps & {
    /** `null`: no mail is sent, and there are no routes that need it. */
    readonly mailer: Mailer | null;
    readonly tokens: TokenSigner;
    readonly proofs: Proofs;
    readonly secrets: Secrets;
    readonly webauthn: WebAuthn;
    readonly hasher: PasswordHasher;
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
   * Adapters of other ports; of `secrets` and `proofs`, those members that are replaced. With `tokens`, the key set of the service is empty:
   * publish the keys yourself. Instances without the keys of the service need `secrets.sign` and `unsign` too, so that each accepts what the
   * others have signed. `hasher` and `attempts` also replace the limits on waiting and on wrong passwords. With `mailer: null` there is no
   * mail. Without `clock`, a storage of the caller's is judged by the clock of this machine: pass that of its server if several machines use
   * it.
   */
  readonly ports?: Partial<Omit<Ports, keyof Storage | 'secrets' | 'proofs'>> & {
    readonly secrets?: Partial<Secrets>;
    readonly proofs?: Partial<Proofs>;
  };
  /** Further checks of `GET /health/ready`, for instance whether the storage responds. */
  readonly checks?: readonly Check[];
  /** Closes the storage. Called once: after the last response, or when the start fails. */
  readonly close?: () => Promise<void> | void;
};
