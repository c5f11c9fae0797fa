import { canonicalAccount } from '../domain/account.ts';
import { AppError } from '../domain/errors/app-error.ts';
import type { User } from '../domain/user.ts';
import { firstGenuine } from './first-genuine.ts';
import type { Clock } from './ports/clock.ts';
import type { Attempt, LoginAttempts } from './ports/login-attempts.ts';
import type { TokenSigner } from './ports/token-signer.ts';

export type LoginAdmissionDeps = {
  readonly attempts: LoginAttempts;
  readonly tokens: TokenSigner;
  readonly clock: Clock;
};

/** Where a log-in comes from. */
export type Origin = {
  /** The client's network, in one spelling. */
  readonly network: string;
  /** The refresh tokens that it carries: those of a device that has logged in before. */
  readonly refreshTokens: readonly string[];
};

/**
 * Lets a log-in through to the comparison, or has it wait (ADR 0024). A device that shows a genuine refresh token of the very
 * user, whatever became of its session, is counted alone, so that no stranger's failures keep it out.
 * @returns the attempt, of which the end has to be told.
 * @throws AppError CLIENT_REQUEST_RATE_LIMIT_EXCEEDED
 */
export const loginAdmission =
  ({ attempts, tokens, clock }: LoginAdmissionDeps) =>
  async (account: string, user: User | null, { network, refreshTokens }: Origin): Promise<Attempt> => {
    const known = await firstGenuine(tokens, refreshTokens, clock.now(), ({ claims }) => claims.sub === user?.id);
    const key = known !== null ? `device ${known.sessionId}` : `account ${canonicalAccount(account)}`;
    const wait = await attempts.begin({ key, network });
    if (wait > 0) throw tooManyFailures(wait);
    return { key, network };
  };

const tooManyFailures = (wait: number): AppError =>
  new AppError('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', {
    reason: 'too many failed log-ins at one account',
    headers: { 'Retry-After': String(Math.ceil(wait / 1000)) },
  });
