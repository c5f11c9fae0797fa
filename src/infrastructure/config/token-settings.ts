import { cookiePathOf } from './cookie-path.ts';
import { accessLifetimeOf, raceWindowOf } from './lifetimes.ts';
import type { Values } from './values.ts';

/** The part of the configuration for tokens and the refresh cookie. */
export type TokenSettings = {
  /** The `iss` and the `aud` of both tokens; `null` is none. */
  readonly issuer: string | null;
  readonly audience: string | null;
  /** Milliseconds, as are the next three. */
  readonly accessLifetime: number;
  readonly refreshLifetime: number;
  readonly raceWindow: number;
  readonly replayWindow: number;
  readonly refreshCookie: {
    readonly path: string;
    readonly sameSite: 'lax' | 'strict' | 'none';
    readonly secure: boolean;
    /** Milliseconds. */
    readonly maxAge: number;
  };
};

export const tokenSettings = (values: Values): TokenSettings => ({
  issuer: values.JWT_ISSUER ?? null,
  audience: values.JWT_AUDIENCE ?? null,
  accessLifetime: accessLifetimeOf(values.JWT_ACCESS_EXPIRES_IN, values.JWT_REFRESH_EXPIRES_IN),
  refreshLifetime: values.JWT_REFRESH_EXPIRES_IN,
  raceWindow: raceWindowOf(values.JWT_REFRESH_RACE_WINDOW, values.JWT_REFRESH_EXPIRES_IN),
  replayWindow: values.JWT_REFRESH_REPLAY_WINDOW,
  refreshCookie: {
    path: cookiePathOf(values.JWT_REFRESH_COOKIE_PATH, values.BASE_URL),
    sameSite: values.JWT_REFRESH_COOKIE_SAME_SITE,
    secure: values.JWT_REFRESH_COOKIE_SECURE,
    maxAge: values.JWT_REFRESH_COOKIE_MAX_AGE_MS,
  },
});
