import type { Clock } from '../../application/ports/clock.ts';
import type { IdGenerator } from '../../application/ports/id-generator.ts';
import type { LoginAttempts } from '../../application/ports/login-attempts.ts';
import type { PasswordBlocklist } from '../../application/ports/password-blocklist.ts';
import type { PasswordHasher } from '../../application/ports/password-hasher.ts';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { TokenSigner } from '../../application/ports/token-signer.ts';
import type { UserRepository } from '../../application/ports/user-repository.ts';

/** The ports of the application. */
export type Ports = {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly tokens: TokenSigner;
  readonly hasher: PasswordHasher;
  /** `null`: every password that is long enough is accepted. */
  readonly blocklist: PasswordBlocklist | null;
  readonly attempts: LoginAttempts;
  readonly clock: Clock;
  readonly ids: IdGenerator;
};
