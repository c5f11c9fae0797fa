import { NO_ORIGIN } from '../../domain/event.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdGenerator } from '../ports/id-generator.ts';
import type { TokenSigner } from '../ports/token-signer.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { endSession } from '../steps/end-sessions.ts';
import { genuineTokens } from '../steps/genuine-tokens.ts';

export type LogoutDeps = {
  readonly unitOfWork: UnitOfWork;
  readonly tokens: TokenSigner;
  readonly clock: Clock;
  readonly ids: IdGenerator;
};

/** Ends the session of every genuine refresh token that is presented, and ignores the others. */
export const logout =
  (deps: LogoutDeps) =>
  async (presented: readonly string[], origin = NO_ORIGIN): Promise<void> => {
    const genuine = await genuineTokens(deps, presented);
    if (genuine.length === 0) return;
    await deps.unitOfWork.run(async (stores) => {
      for (const { sessionId, claims } of genuine) {
        await endSession(deps, stores, { id: sessionId, userId: claims.sub }, { reason: 'logout', origin });
      }
    });
  };
