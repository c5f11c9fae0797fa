import type { Binding, User } from './types.ts';

export type Token = {
  readonly value: string;
  user: User;
  readonly sid: string;
  readonly binding: Binding;
  /** Whether each request with the token needs a proof of the key of the device. */
  readonly isBound: boolean;
  /** When the token arrived, by the clock of this machine. Only differences of such times are used. */
  readonly at: number;
  /** Milliseconds until the token should be renewed; below 0 afterwards. */
  readonly untilDue: () => number;
  /** Milliseconds for which the token is still valid when it should be renewed. */
  readonly margin: number;
};

const MARGIN = 60_000;

type Claims = { iat: number; exp: number; sid: string; user: User; cnf?: unknown };

/**
 * The lifetime is counted from the arrival, so a wrong clock does not matter. `performance.now()` stands still while the machine sleeps,
 * and `Date.now()` jumps when the clock is set: the larger difference counts, since renewing too early does no harm.
 */
export const tokenOf = (value: string, binding: Binding, at = Date.now()): Token => {
  // Base64url; usernames and emails are ASCII, so the text needs no decoding.
  const payload = value.replace(/-/g, '+').replace(/_/g, '/').split('.')[1] as string;
  const { iat, exp, sid, user, cnf } = JSON.parse(atob(payload)) as Claims;
  const lifetime = (exp - iat) * 1000;
  const start = performance.now();
  const margin = Math.min(MARGIN, lifetime / 5);
  const untilDue = () => lifetime - margin - Math.max(performance.now() - start, Date.now() - at);
  return { value, user, sid, binding, isBound: !!cnf, at, untilDue, margin };
};

/** The user; `null` without a token, `undefined` as long as that is not known. */
export const userOf = <None extends null | undefined>(token: Token | None): User | None => (token ? token.user : token);
