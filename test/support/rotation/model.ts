import type { ReplayPolicy } from '../../../src/domain/session.ts';
import { type Fault, REFRESH_LIFETIME } from './program.ts';

/** A refresh token, by its number within its session. */
type Token = number;

type State = { current: Token; rotatedAt: number; expiresAt: number };
/** What is stored, and whether the current token came out of the last rotation. */
type Progress = State & { replaced: boolean };
type Rotation = { readonly from: Token; readonly to: Token; readonly at: number };

type ModelSession = {
  /** `null` once it has ended. */
  state: Progress | null;
  /** The last number that was given to a token. */
  last: Token;
  /** When each token was rotated that was; all of them, from the first on. */
  readonly rotations: Map<Token, number>;
  /** When a client lost a token to time: whole seconds (RFC 7519 §2). */
  readonly over: Map<Token, number>;
  /** Rotations of which an instance does not know whether they happened. */
  readonly unconfirmed: { readonly instance: number; readonly rotation: Rotation; late: boolean }[];
};

const withoutProgress = ({ replaced: _replaced, ...state }: Progress): State => state;
const wholeSeconds = (time: number): number => Math.floor(time / 1_000) * 1_000;

/**
 * ADR 0003 and 0022 once more, for one session and in the plainest words: what the service has to answer, step by step.
 * Written apart from `src/domain/session.ts`, so that the one can be held against the other.
 */
export const sessionModel = (policy: ReplayPolicy, openedAt: number) => {
  const session: ModelSession = {
    state: { current: 0, rotatedAt: openedAt, expiresAt: openedAt + REFRESH_LIFETIME, replaced: false },
    last: 0,
    rotations: new Map(),
    over: new Map([[0, wholeSeconds(openedAt + REFRESH_LIFETIME)]]),
    unconfirmed: [],
  };

  const mayRotate = (token: Token, at: number): boolean =>
    session.state !== null && session.state.current === token && at < session.state.expiresAt;
  const rotate = ({ from, to, at }: Rotation): boolean => {
    if (!mayRotate(from, at)) return false;
    session.state = { current: to, rotatedAt: at, expiresAt: at + REFRESH_LIFETIME, replaced: true };
    session.rotations.set(from, at);
    session.over.set(to, wholeSeconds(at + REFRESH_LIFETIME));
    return true;
  };
  const takeBack = ({ from, to }: Rotation): void => {
    if (session.state?.current !== to) return;
    session.state.current = from;
    session.state.replaced = false;
    session.rotations.delete(from);
  };
  /** Whether the current token took another's place within the replay window: then it is given again. */
  const isFresh = (now: number): boolean =>
    session.state?.replaced === true && now - session.state.rotatedAt < policy.replayWindow;
  /** Whether the service looks at the session before it tries to rotate: the token was issued about now. */
  const isLookedAtFirst = (token: Token, now: number): boolean =>
    policy.replayWindow > 0 && now - issuedAt(token) < policy.replayWindow + 1_000;
  const issuedAt = (token: Token): number => (session.over.get(token) ?? 0) - REFRESH_LIFETIME;
  const refuse = (token: Token, now: number): string => {
    const { state } = session;
    if (state === null || now >= state.expiresAt) return 'AUTH_FAILED over';
    if (token === state.current && !isFresh(now)) return 'AUTH_FAILED current';
    if (token === state.current) return `token ${token} again`;
    const age = now - (session.rotations.get(token) ?? Number.NEGATIVE_INFINITY);
    if (age < policy.replayWindow) return `token ${state.current} again`;
    if (age <= policy.raceWindow) return 'AUTH_FAILED raced';
    session.state = null;
    return 'AUTH_FAILED reused';
  };
  const isGenuine = (token: Token, now: number): boolean => now < (session.over.get(token) ?? 0);

  return {
    /** What one refresh is answered. */
    refresh(token: Token, now: number, instance: number, fault: Fault): string {
      if (!isGenuine(token, now)) return 'AUTH_FAILED not genuine';
      if (session.unconfirmed.some((each) => each.instance === instance)) return 'DB_QUERY_FAILED';
      if (isLookedAtFirst(token, now) && (!mayRotate(token, now) || isFresh(now))) return refuse(token, now);
      session.last += 1;
      const rotation = { from: token, to: session.last, at: now };
      if (fault === 'none') return rotate(rotation) ? `token ${rotation.to}` : refuse(token, now);
      if (fault === 'timed out') {
        if (!rotate(rotation)) return refuse(token, now);
        takeBack(rotation);
        return 'timed out';
      }
      if (fault === 'answer lost') rotate(rotation);
      session.unconfirmed.push({ instance, rotation, late: fault === 'late' });
      return 'DB_QUERY_FAILED';
    },
    /** @returns whether it ends the session. */
    logOut(token: Token, now: number): boolean {
      if (isGenuine(token, now)) session.state = null;
      return session.state === null;
    },
    settle(): void {
      for (const { rotation, late } of session.unconfirmed) if (late) rotate(rotation);
      for (const { rotation } of session.unconfirmed.splice(0)) takeBack(rotation);
    },
    /** The number that was given last, to whatever token. */
    newest: (): Token => session.last,
    /** Whether the client that holds this token can go on. */
    isUsable: (token: Token, now: number): boolean => isGenuine(token, now) && mayRotate(token, now),
    /** The session as it is stored, or `null` when it is over. */
    stored: (now: number): State | null =>
      session.state === null || now >= session.state.expiresAt ? null : withoutProgress(session.state),
  };
};
