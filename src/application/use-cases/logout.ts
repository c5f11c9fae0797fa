import type { Clock } from '../ports/clock.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { TokenSigner } from '../ports/token-signer.ts';
import { genuineTokens } from '../steps/genuine-tokens.ts';

export type LogoutDeps = {
  readonly sessions: SessionRepository;
  readonly tokens: TokenSigner;
  readonly clock: Clock;
};

/** Ends the session of every genuine refresh token that is presented, and ignores the others. */
export const logout =
  (deps: LogoutDeps) =>
  async (presented: readonly string[]): Promise<void> => {
    const genuine = await genuineTokens(deps, presented);
    await Promise.all(genuine.map(({ sessionId, claims }) => deps.sessions.end({ id: sessionId, userId: claims.sub })));
  };
