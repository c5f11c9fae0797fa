import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { isLive, type Session, type SessionKey } from '../../domain/session.ts';
import type { SignedPurpose } from '../ports/secrets.ts';
import { record, type Service } from '../service.ts';
import type { Caller } from './current-user.ts';
import { deviceUnproven } from './prove-device.ts';
import { verifiedTokens } from './tokens.ts';

const MINUTE = 60_000;
/** Milliseconds in which a browser has to make a key. */
const REGISTRATION_TIME = 5 * MINUTE;
/** Milliseconds in which a challenge is valid, and in which the first renewal has to follow the registration. */
const CHALLENGE_TIME = 20 * MINUTE;

const sign = (
  { secrets, clock }: Service,
  purpose: SignedPurpose,
  { userId, sessionId }: Caller,
  value: string,
  lifetime: number,
): string => secrets.sign({ purpose, userId, sessionId, value, expiresAt: clock.now() + lifetime });

const ownerOf = ({ id: sessionId, userId }: SessionKey): Caller => ({ userId, sessionId });

/** @param rotation a renewal accepts the challenge while the session has this rotation number, or the one before. */
const challengeFor = (deps: Service, owner: Caller, rotation: number): string =>
  sign(deps, 'challenge', owner, `${rotation}`, CHALLENGE_TIME);

export const inviteBrowser = (deps: Service) => (owner: Caller) => ({
  challenge: challengeFor(deps, owner, 0),
  authorization: sign(deps, 'registration', owner, '', REGISTRATION_TIME),
});

/**
 * Verifies the registration of a browser's key. Only the first renewal stores the key, since it shows that the browser got this response: otherwise a lost
 * response would lock the browser out.
 * @returns the identifier of the browser's session, which contains the key.
 */
export const registerBrowser = (deps: Service) => async (text: string) => {
  const now = deps.clock.now();
  const proof = await deps.proofs.verifyBrowser(text, null);
  const invitation = deps.secrets.unsign(proof?.authorization ?? '', 'registration', now);
  const challenge = deps.secrets.unsign(proof?.challenge ?? '', 'challenge', now);
  if (proof === null || invitation === null || challenge?.sessionId !== invitation.sessionId)
    throw deviceUnproven('the registration of the browser is not valid');
  return sign(deps, 'browser', invitation, proof.key, CHALLENGE_TIME);
};

type RenewalInput = {
  readonly identifier: string;
  /** `null`: the browser asks for a challenge. */
  readonly proof: string | null;
  readonly refreshTokens: readonly string[];
  readonly origin?: Origin;
};

/**
 * Renews the bound cookie of a browser. The first renewal gives the key to the session. A browser forgets its session for good when a renewal is refused. So
 * a missing proof, or one for an old challenge, is no reason to refuse: the browser gets a new challenge.
 * @returns the next challenge, and the bound cookie if the browser has signed a current challenge
 */
export const renewBrowser =
  (deps: Service & { readonly boundCookieLifetime: number }) =>
  async ({ identifier, proof: text, refreshTokens, origin = NO_ORIGIN }: RenewalInput) => {
    const keyed = await keyedSessions(deps, refreshTokens, identifier);
    const { session, key, proof } = await signedSession(deps, keyed, text);
    const owner = ownerOf(session);
    if (proof === null || !isCurrentChallenge(deps, session, proof.challenge))
      return { challenge: challengeFor(deps, owner, session.rotation), cookie: null };
    if (session.browserKey === null) await bindBrowserKey(deps, session, key, origin);
    const cookie = sign(deps, 'cookie', owner, key, deps.boundCookieLifetime);
    // A refresh may come before the next renewal, so the challenge also fits the rotation number after it.
    return { challenge: challengeFor(deps, owner, session.rotation + 1), cookie };
  };

const sessionEnded = () => new AppError('AUTH_FAILED', { reason: 'the session of the browser has ended' });

type KeyedSession = { readonly session: Session; readonly key: string };

/** The live sessions of the refresh tokens for which the browser may have a key. Another host of the domain could add tokens of other sessions. */
const keyedSessions = async (deps: Service, refreshTokens: readonly string[], identifier: string) => {
  const verified = await verifiedTokens(deps, refreshTokens);
  const found = await Promise.all(
    verified.map(({ sessionId: id, claims }) => deps.sessions.find({ id, userId: claims.sub })),
  );
  const live = found.filter((session) => session !== null).filter((session) => isLive(session, deps.clock.now()));
  if (live.length === 0) throw sessionEnded();
  const keyed = live.flatMap((session) => {
    const key = session.browserKey ?? registeredKey(deps, session, identifier);
    return key === null ? [] : [{ session, key }];
  });
  if (keyed.length === 0) throw deviceUnproven('the browser has no key of this session');
  return keyed;
};

/** The session whose key has signed the proof; without a proof, the first session. */
const signedSession = async ({ proofs }: Service, keyed: readonly KeyedSession[], text: string | null) => {
  for (const each of keyed) {
    const proof = text === null ? null : await proofs.verifyBrowser(text, each.key);
    if (text === null || proof !== null) return { ...each, proof };
  }
  throw deviceUnproven('the proof of the browser is not valid');
};

const registeredKey = ({ secrets, clock }: Service, { id }: Session, identifier: string): string | null => {
  const registered = secrets.unsign(identifier, 'browser', clock.now());
  return registered?.sessionId === id ? registered.value : null;
};

/** Whether a challenge was made for this session, and for its present rotation number or the next one. */
const isCurrentChallenge = ({ secrets, clock }: Service, { id, rotation }: Session, text: string): boolean => {
  const challenge = secrets.unsign(text, 'challenge', clock.now());
  return challenge?.sessionId === id && [rotation, rotation + 1].includes(Number(challenge.value));
};

const bindBrowserKey = (deps: Service, { id, userId }: Session, key: string, origin: Origin): Promise<void> =>
  deps.transactions.run(async (stores) => {
    await stores.users.lock(userId);
    const session = await stores.sessions.find({ id, userId });
    if (session === null) throw sessionEnded();
    if (session.browserKey === key) return;
    if (!(await stores.sessions.bindBrowser(session, key))) throw deviceUnproven('the session has another key');
    await record(deps, stores, origin, [{ userId, kind: 'device-bound', sessionId: id }]);
  });
