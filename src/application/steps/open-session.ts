import { type Device, UNKNOWN_DEVICE } from '../../domain/device.ts';
import { newSession } from '../../domain/session.ts';
import { type PublicUser, publicUser, type User } from '../../domain/user.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import { type IssueTokenPairDeps, issueTokenPair, type TokenPair } from './issue-token-pair.ts';

export type OpenSessionDeps = IssueTokenPairDeps & {
  readonly sessions: SessionRepository;
  /** Milliseconds. */
  readonly refreshLifetime: number;
};

export type OpenedSession = TokenPair & { readonly user: PublicUser; readonly sessionId: string };

/** How register and log in end: a new session, its first token pair, and the user. */
export const openSession = (deps: OpenSessionDeps) => {
  const issue = issueTokenPair(deps);
  return async (user: User, now: number, device: Device = UNKNOWN_DEVICE): Promise<OpenedSession> => {
    const session = newSession({
      id: deps.ids.next(),
      userId: user.id,
      tokenId: deps.ids.next(),
      now,
      lifetime: deps.refreshLifetime,
      device,
    });
    const pair = await issue(user, session, now);
    await deps.sessions.add(session);
    return { ...pair, user: publicUser(user), sessionId: session.id };
  };
};
