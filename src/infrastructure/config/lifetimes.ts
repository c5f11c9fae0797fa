const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Milliseconds. Tabs that race and answers that are lost are a matter of seconds, of a request's time-out at most. */
export const MAX_WINDOW = 5 * MINUTE;

/** Milliseconds. In the other nine tenths of a token's lifetime a replay is always taken for theft. */
export const longestWindow = (refreshLifetime: number): number =>
  Math.min(MAX_WINDOW, Math.floor(refreshLifetime / 10));

/** SPEC "Token scheme": 15 minutes, unless the refresh token is over before. */
export const accessLifetimeOf = (access: number | undefined, refreshLifetime: number): number =>
  access ?? Math.min(15 * MINUTE, refreshLifetime);

export const raceWindowOf = (race: number | undefined, refreshLifetime: number): number =>
  race ?? Math.min(10 * SECOND, longestWindow(refreshLifetime));
