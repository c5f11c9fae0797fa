import type { ReplayPolicy } from '../../../src/domain/token-status.ts';
import { type Fault, REFRESH_LIFETIME } from '../../support/rotation/program.ts';

/** A refresh token, by its number within its session. */
type Token = number;

type State = { current: Token; rotatedAt: number; expiresAt: number };
/** The stored state, and whether the current token is the result of the last rotation. */
type Progress = State & {
  replaced: boolean;
  /** The token of the last rotation. */
  previous: Token | null;
  /** How many rotations the current token is away from the first, counting those that were reverted. */
  generation: number;
};
/** `expected` is the token that has to be current, with that generation: `from`, unless the store has lost rotations. */
type Rotation = {
  readonly from: Token;
  readonly expected: Token;
  readonly generation: number;
  readonly to: Token;
  readonly at: number;
};
/** What the store knows of the session. */
type Stored = Pick<ModelSession, 'state' | 'burstFirst' | 'burstStartedAt'>;

type ModelSession = {
  /** `null` after the session has ended. */
  state: Progress | null;
  /** The number of the newest token. */
  last: Token;
  /** The generation of the token with which the present burst of rotations began. */
  burstFirst: number;
  burstStartedAt: number;
  /** When each token expires, in milliseconds, a multiple of a second (RFC 7519 §2). */
  readonly expirations: Map<Token, number>;
  /** How many rotations each token is away from the first. */
  readonly generations: Map<Token, number>;
  /** Rotations with an outcome that is unknown to an instance. */
  readonly unconfirmed: { readonly instance: number; readonly rotation: Rotation; readonly fault: Fault }[];
};

const withoutProgress = ({ current, rotatedAt, expiresAt }: Progress): State => ({ current, rotatedAt, expiresAt });
/** For a token of which the service does not know when it was rotated, or that it was more than a window ago. */
const NEVER = { earliest: Number.NEGATIVE_INFINITY, latest: Number.NEGATIVE_INFINITY };
const wholeSeconds = (time: number): number => Math.floor(time / 1_000) * 1_000;

/**
 * A second, simple implementation of ADR 0002 and ADR 0003 for one session: the expected response of each step.
 * Independent of `src/domain/session.ts`, so that the two can be compared.
 */
export const sessionModel = (policy: ReplayPolicy, openedAt: number) => {
  const window = Math.max(policy.raceWindow, policy.replayWindow);
  const session: ModelSession = {
    state: {
      current: 0,
      rotatedAt: openedAt,
      expiresAt: openedAt + REFRESH_LIFETIME,
      replaced: false,
      previous: null,
      generation: 0,
    },
    last: 0,
    burstFirst: 0,
    burstStartedAt: openedAt,
    expirations: new Map([[0, wholeSeconds(openedAt + REFRESH_LIFETIME)]]),
    generations: new Map([[0, 0]]),
    unconfirmed: [],
  };

  const mayRotate = (token: Token, at: number): boolean =>
    session.state !== null && session.state.current === token && at < session.state.expiresAt;
  const generationOf = (token: Token): number => session.generations.get(token) ?? 0;
  const isExpected = ({ expected, generation }: Rotation): boolean =>
    session.state?.current === expected && session.state.generation === generation;
  const rotate = (rotation: Rotation): boolean => {
    const { from, expected, to, at } = rotation;
    if (!isExpected(rotation) || !mayRotate(expected, at)) return false;
    const isFirstAgain = generationOf(from) === session.burstFirst;
    if (isFirstAgain || from !== expected || at - issuedAt(from) > window + 999) {
      session.burstFirst =
        from === expected ? generationOf(from) : Math.min(generationOf(from) - 1, rotation.generation);
      session.burstStartedAt = at;
    }
    const generation = Math.max(generationOf(from), rotation.generation) + 1;
    session.generations.set(to, generation);
    session.state = {
      current: to,
      rotatedAt: at,
      expiresAt: at + REFRESH_LIFETIME,
      replaced: true,
      previous: from,
      generation,
    };
    session.expirations.set(to, wholeSeconds(at + REFRESH_LIFETIME));
    return true;
  };
  /** Undoes a rotation, or makes it impossible. */
  const takeBack = (rotation: Rotation): void => {
    const { state } = session;
    if (state === null || (state.current !== rotation.to && !isExpected(rotation))) return;
    state.current = rotation.from;
    state.previous = rotation.from;
    state.replaced = false;
    state.generation = Math.max(generationOf(rotation.from), rotation.generation) + 1;
  };
  /** Whether the current token replaced another within the replay window: then it is issued again. */
  const isFresh = (now: number): boolean =>
    session.state?.replaced === true && now - session.state.rotatedAt < policy.replayWindow;
  /** Whether the service reads the session before it rotates, because the token was issued recently. */
  const isLookedAtFirst = (token: Token, now: number): boolean =>
    policy.replayWindow > 0 && now - issuedAt(token) < policy.replayWindow + 1_000;
  const issuedAt = (token: Token): number => (session.expirations.get(token) ?? 0) - REFRESH_LIFETIME;
  /** Performs a rotation that may have a fault. @returns the response; `null` when the session did not expect it. */
  const perform = (rotation: Rotation, instance: number, fault: Fault): string | null => {
    if (fault === 'none') return rotate(rotation) ? `token ${rotation.to}` : null;
    if (fault === 'timed out') {
      if (!rotate(rotation)) return null;
      takeBack(rotation);
      return 'timed out';
    }
    if (fault === 'answer lost') rotate(rotation);
    session.unconfirmed.push({ instance, rotation, fault });
    return 'DB_QUERY_FAILED';
  };
  /** @param stored what the service has read; without it, the token is expected to be current, and rotated for the first time. */
  const next = (from: Token, at: number, stored?: State & Pick<Progress, 'generation'>): Rotation => {
    session.last += 1;
    const { current: expected, generation } = stored ?? { current: from, generation: generationOf(from) };
    return { from, expected, generation, to: session.last, at };
  };
  const isForgotten = (token: Token): boolean =>
    session.state !== null &&
    (generationOf(token) > session.state.generation ||
      (session.state.previous === session.state.current && issuedAt(token) > session.state.rotatedAt));
  const refuse = (token: Token, now: number, again: (rotation: Rotation) => string | null): string => {
    const { state } = session;
    if (state === null || now >= state.expiresAt) return 'AUTH_FAILED ended';
    if (token === state.current && isFresh(now)) return `token ${token} again`;
    if (token === state.current || isForgotten(token))
      return again(next(token, now, state)) ?? refuse(token, now, again);
    const { earliest, latest } = knownOf(token, state);
    if (state.replaced && now - earliest < policy.replayWindow) return `token ${state.current} again`;
    if (now - latest <= window) return 'AUTH_FAILED raced';
    session.state = null;
    return 'AUTH_FAILED reused';
  };
  /** The times between which a token was rotated, as far as the service knows. */
  const knownOf = (token: Token, { rotatedAt, previous, generation }: Progress): typeof NEVER => {
    if (token === previous) return { earliest: rotatedAt, latest: rotatedAt };
    const [number, first] = [generationOf(token), session.burstFirst];
    if (number === first) return { earliest: issuedAt(token), latest: session.burstStartedAt };
    if (number < first || number >= generation) return NEVER;
    return { earliest: issuedAt(token), latest: Math.min(rotatedAt, issuedAt(token) + 999 + window) };
  };
  const isValid = (token: Token, now: number): boolean => now < (session.expirations.get(token) ?? 0);

  return {
    /** The expected response to one refresh. */
    refresh(token: Token, now: number, instance: number, fault: Fault): string {
      if (!isValid(token, now)) return 'AUTH_FAILED not verified';
      if (session.unconfirmed.some((each) => each.instance === instance)) return 'DB_QUERY_FAILED';
      const withFault = (rotation: Rotation) => perform(rotation, instance, fault);
      if (isLookedAtFirst(token, now) && (!mayRotate(token, now) || isFresh(now))) return refuse(token, now, withFault);
      // The first rotation meets the fault; a time-out is noticed before the second.
      const withoutFault = (rotation: Rotation) =>
        fault === 'timed out' ? 'timed out' : perform(rotation, instance, 'none');
      const stored = isLookedAtFirst(token, now) ? session.state : undefined;
      return withFault(next(token, now, stored ?? undefined)) ?? refuse(token, now, withoutFault);
    },
    /** What the store knows now. */
    snapshot: (): Stored => {
      const { state, burstFirst, burstStartedAt } = session;
      return structuredClone({ state, burstFirst, burstStartedAt });
    },
    /** The store knows only what it knew then. */
    forget(known: Stored): void {
      Object.assign(session, structuredClone(known));
    },
    /** @returns whether it ends the session. */
    logOut(token: Token, now: number): boolean {
      if (isValid(token, now)) session.state = null;
      return session.state === null;
    },
    settle(): void {
      for (const { rotation, fault } of session.unconfirmed) if (fault === 'late') rotate(rotation);
      for (const { rotation } of session.unconfirmed.splice(0)) takeBack(rotation);
    },
    /** The number of the newest token. */
    newest: (): Token => session.last,
    /** Whether a refresh with this token would succeed. */
    isUsable: (token: Token, now: number): boolean =>
      isValid(token, now) &&
      (mayRotate(token, now) || (session.state !== null && now < session.state.expiresAt && isForgotten(token))),
    /** The stored session; `null` when it has expired or ended. */
    stored: (now: number): State | null =>
      session.state === null || now >= session.state.expiresAt ? null : withoutProgress(session.state),
  };
};
