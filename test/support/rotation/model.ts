import type { ReplayPolicy } from '../../../src/domain/token-status.ts';
import { type Fault, REFRESH_LIFETIME } from './program.ts';

/** A refresh token, by its number within its session. */
type Token = number;

type State = { current: Token; rotatedAt: number; expiresAt: number };
/** The stored state, and whether the current token is the result of the last rotation. */
type Progress = State & { replaced: boolean };
type Rotation = { readonly from: Token; readonly to: Token; readonly at: number };

type ModelSession = {
  /** `null` after the session has ended. */
  state: Progress | null;
  /** The number of the newest token. */
  last: Token;
  /** The token whose rotation began the present run of rotations. */
  runFirst: Token;
  /** When each token was rotated, from the first on. */
  readonly rotations: Map<Token, number>;
  /** When each token expires, in milliseconds, a multiple of a second (RFC 7519 §2). */
  readonly expirations: Map<Token, number>;
  /** Rotations with an outcome that is unknown to an instance. */
  readonly unconfirmed: { readonly instance: number; readonly rotation: Rotation; late: boolean }[];
};

const withoutProgress = ({ replaced: _replaced, ...state }: Progress): State => state;
const wholeSeconds = (time: number): number => Math.floor(time / 1_000) * 1_000;

/**
 * A second, simple implementation of ADR 0003 and ADR 0022 for one session: the expected response of each step.
 * Independent of `src/domain/session.ts`, so that the two can be compared.
 */
export const sessionModel = (policy: ReplayPolicy, openedAt: number) => {
  const window = Math.max(policy.raceWindow, policy.replayWindow);
  const session: ModelSession = {
    state: { current: 0, rotatedAt: openedAt, expiresAt: openedAt + REFRESH_LIFETIME, replaced: false },
    last: 0,
    runFirst: 0,
    rotations: new Map(),
    expirations: new Map([[0, wholeSeconds(openedAt + REFRESH_LIFETIME)]]),
    unconfirmed: [],
  };

  const mayRotate = (token: Token, at: number): boolean =>
    session.state !== null && session.state.current === token && at < session.state.expiresAt;
  const rotate = ({ from, to, at }: Rotation): boolean => {
    if (!mayRotate(from, at)) return false;
    if (from === 0 || at - issuedAt(from) > window + 999) session.runFirst = from;
    session.state = { current: to, rotatedAt: at, expiresAt: at + REFRESH_LIFETIME, replaced: true };
    session.rotations.set(from, at);
    session.expirations.set(to, wholeSeconds(at + REFRESH_LIFETIME));
    return true;
  };
  const takeBack = ({ from, to }: Rotation): void => {
    if (session.state?.current !== to) return;
    session.state.current = from;
    session.state.replaced = false;
    session.rotations.delete(from);
  };
  /** Whether the current token replaced another within the replay window: then it is issued again. */
  const isFresh = (now: number): boolean =>
    session.state?.replaced === true && now - session.state.rotatedAt < policy.replayWindow;
  /** Whether the service reads the session before it rotates, because the token was issued recently. */
  const isLookedAtFirst = (token: Token, now: number): boolean =>
    policy.replayWindow > 0 && now - issuedAt(token) < policy.replayWindow + 1_000;
  const issuedAt = (token: Token): number => (session.expirations.get(token) ?? 0) - REFRESH_LIFETIME;
  const refuse = (token: Token, now: number): string => {
    const { state } = session;
    if (state === null || now >= state.expiresAt) return 'AUTH_FAILED ended';
    if (token === state.current && !isFresh(now)) return 'AUTH_FAILED current';
    if (token === state.current) return `token ${token} again`;
    const { earliest, latest } = knownOf(token, state);
    if (state.replaced && now - earliest < policy.replayWindow) return `token ${state.current} again`;
    if (now - latest <= window) return 'AUTH_FAILED raced';
    session.state = null;
    return 'AUTH_FAILED reused';
  };
  /** The times between which a token was rotated, as far as the service knows. */
  const knownOf = (token: Token, { rotatedAt }: State): { readonly earliest: number; readonly latest: number } => {
    const at = session.rotations.get(token) ?? Number.NEGATIVE_INFINITY;
    if (token < session.runFirst) return { earliest: Number.NEGATIVE_INFINITY, latest: Number.NEGATIVE_INFINITY };
    if (at === rotatedAt) return { earliest: at, latest: at };
    if (token === session.runFirst) return { earliest: issuedAt(token), latest: at };
    return { earliest: issuedAt(token), latest: Math.min(rotatedAt, issuedAt(token) + 999 + window) };
  };
  const isValid = (token: Token, now: number): boolean => now < (session.expirations.get(token) ?? 0);

  return {
    /** The expected response to one refresh. */
    refresh(token: Token, now: number, instance: number, fault: Fault): string {
      if (!isValid(token, now)) return 'AUTH_FAILED not verified';
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
      if (isValid(token, now)) session.state = null;
      return session.state === null;
    },
    settle(): void {
      for (const { rotation, late } of session.unconfirmed) if (late) rotate(rotation);
      for (const { rotation } of session.unconfirmed.splice(0)) takeBack(rotation);
    },
    /** The number of the newest token. */
    newest: (): Token => session.last,
    /** Whether a refresh with this token would succeed. */
    isUsable: (token: Token, now: number): boolean => isValid(token, now) && mayRotate(token, now),
    /** The stored session; `null` when it has expired or ended. */
    stored: (now: number): State | null =>
      session.state === null || now >= session.state.expiresAt ? null : withoutProgress(session.state),
  };
};
