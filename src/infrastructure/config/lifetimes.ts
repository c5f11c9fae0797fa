const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Milliseconds. Races between tabs and lost responses are resolved within seconds, at most within a request time-out. */
export const MAX_WINDOW = 5 * MINUTE;

/** Milliseconds: a tenth of the lifetime, so that a replay counts as theft for the rest of it. */
export const longestWindow = (refreshLifetime: number): number =>
  Math.min(MAX_WINDOW, Math.floor(refreshLifetime / 10));

/** SPEC "Token scheme": 15 minutes, or the lifetime of the refresh token if that is shorter. */
export const accessLifetimeOf = (access: number | undefined, refreshLifetime: number): number =>
  access ?? Math.min(15 * MINUTE, refreshLifetime);

export const raceWindowOf = (race: number | undefined, refreshLifetime: number): number =>
  race ?? Math.min(10 * SECOND, longestWindow(refreshLifetime));
