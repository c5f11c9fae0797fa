import type { Clock } from '../../application/ports/clock.ts';
import type { IdGenerator } from '../../application/ports/id-generator.ts';
import type { LinkTokens } from '../../application/ports/link-tokens.ts';
import type { LoginAttempts } from '../../application/ports/login-attempts.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import type { PasswordBlocklist } from '../../application/ports/password-blocklist.ts';
import type { PasswordHasher } from '../../application/ports/password-hasher.ts';
import type { TokenSigner } from '../../application/ports/token-signer.ts';
import type { Storage } from '../../application/ports/unit-of-work.ts';

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
