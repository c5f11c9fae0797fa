import { type Device, UNKNOWN_DEVICE } from '../../domain/device.ts';
import { newSession } from '../../domain/session.ts';
import { type PublicUser, publicUser, type User } from '../../domain/user.ts';
import type { IdGenerator } from '../ports/id-generator.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { TokenSigner } from '../ports/token-signer.ts';
import { issueTokenPair, type TokenPair } from './issue-token-pair.ts';

type OpenSessionDeps = {
  readonly sessions: SessionRepository;
  readonly tokens: TokenSigner;
  readonly ids: IdGenerator;
  /** Milliseconds. */
  readonly accessLifetime: number;
  /** Milliseconds. */
  readonly refreshLifetime: number;
};

export type OpenedSession = TokenPair & { readonly user: PublicUser; readonly sessionId: string };

/** The last step of registration and log-in: stores a new session and returns its first token pair and the user. */
export const openSession = async (
  deps: OpenSessionDeps,
  user: User,
  now: number,
  device: Device = UNKNOWN_DEVICE,
): Promise<OpenedSession> => {
  const { sessions, ids, refreshLifetime: lifetime } = deps;
  const session = newSession({ id: ids.next(), userId: user.id, tokenId: ids.next(), now, lifetime, device });
  const pair = await issueTokenPair(deps, user, session, now);
  await sessions.add(session);
  return { ...pair, user: publicUser(user), sessionId: session.id };
};
