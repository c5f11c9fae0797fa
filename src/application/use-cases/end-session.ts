import { firstGenuine } from '../first-genuine.ts';
import type { Clock } from '../ports/clock.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { TokenSigner } from '../ports/token-signer.ts';

export type EndSessionDeps = {
  readonly sessions: SessionRepository;
  readonly tokens: TokenSigner;
  readonly clock: Clock;
};

/** Logs out: ends the session of the first genuine refresh token, if there is one. */
export const endSession =
  ({ sessions, tokens, clock }: EndSessionDeps) =>
  async (presented: readonly string[]): Promise<void> => {
    const token = await firstGenuine(tokens, presented, clock.now());
    if (token !== null) await sessions.end({ id: token.sessionId, userId: token.claims.sub });
  };
