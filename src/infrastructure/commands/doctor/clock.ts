import { type Finding, ok, warning } from './finding.ts';

/** A time of another clock, and this machine's times before and after it was read. Epoch milliseconds. */
export type Reading = { readonly before: number; readonly other: number; readonly after: number };

/** Milliseconds. Access tokens are checked in whole seconds. */
const NOTICEABLE = 1_000;
const ADVICE = 'Synchronize the clocks of all machines with NTP: docs/deploy.md, "Several instances".';

/** The service goes by the clock of its database, so a difference breaks nothing by itself. */
export const clockFinding = (id: string, reading: Reading): Finding => {
  const { before, other, after } = reading;
  const ahead = other - (before + after) / 2;
  // The other clock was read at an unknown time between `before` and `after`.
  const certain = Math.abs(ahead) - (after - before) / 2;
  if (certain <= NOTICEABLE) return ok(id, 'The clocks of this machine and of the database agree.');
  const difference = `${(Math.abs(ahead) / 1_000).toFixed(1)} s ${ahead > 0 ? 'behind' : 'ahead of'}`;
  const seen = `The clock of this machine is ${difference} that of the database, which the service goes by`;
  return warning(
    id,
    `${seen}: either its log has wrong times, or other services find wrong times in its tokens.`,
    ADVICE,
  );
};
