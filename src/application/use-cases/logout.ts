import type { Clock } from '../ports/clock.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { TokenSigner } from '../ports/token-signer.ts';
import { genuineTokens } from '../steps/genuine-tokens.ts';

export type LogoutDeps = {
  readonly sessions: SessionRepository;
  readonly tokens: TokenSigner;
  readonly clock: Clock;
};

/** Logs out: ends the sessions of all genuine refresh tokens that a request carries. */
export const logout =
  ({ sessions, tokens, clock }: LogoutDeps) =>
  async (presented: readonly string[]): Promise<void> => {
    const genuine = await genuineTokens(tokens, presented, clock.now());
    await Promise.all(genuine.map(({ sessionId, claims }) => sessions.end({ id: sessionId, userId: claims.sub })));
  };
