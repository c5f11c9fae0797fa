/** Milliseconds. */
export const DAY = 86_400_000;
const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY } as const;
const DURATION = /^([1-9]\d{0,9})([smhd])$/;

/** Milliseconds: ten years, so that sums with the current time are valid dates. */
export const MAX_DURATION = 3_650 * DAY;

/** `10s`, `15m`, `12h`, `7d` or a plain `0`. @returns milliseconds, or `null` for anything else and for over ten years. */
export const parseDuration = (text: string): number | null => {
  if (text === '0') return 0;
  const [, amount, unit] = DURATION.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return null;
  // The pattern admits only units of UNITS.
  const milliseconds = Number(amount) * UNITS[unit as keyof typeof UNITS];
  return milliseconds <= MAX_DURATION ? milliseconds : null;
};
