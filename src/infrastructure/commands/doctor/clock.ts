import { type Finding, ok, problem, warning } from './finding.ts';

/** A time of another clock, and this machine's times before and after it was read. Epoch milliseconds. */
export type Reading = { readonly before: number; readonly other: number; readonly after: number };

/** Milliseconds. Access tokens are checked in whole seconds. */
const NOTICEABLE = 1_000;
const ADVICE = 'Synchronize the clocks of all machines with NTP: docs/deploy.md, "Several instances".';

/** @param of whose clock it is. @param raceWindow milliseconds. */
export const clockFinding = (id: string, of: string, reading: Reading, raceWindow: number): Finding => {
  const { before, other, after } = reading;
  const ahead = other - (before + after) / 2;
  // The other clock was read at an unknown time between `before` and `after`.
  const certain = Math.abs(ahead) - (after - before) / 2;
  if (certain <= NOTICEABLE) return ok(id, `The clocks of this machine and of ${of} agree.`);
  const difference = `${(Math.abs(ahead) / 1_000).toFixed(1)} s ${ahead > 0 ? 'behind' : 'ahead of'}`;
  const seen = `The clock of this machine is ${difference} that of ${of}`;
  return certain > raceWindow
    ? problem(id, `${seen}: tokens are refused, and two tabs that refresh at once can count as theft.`, ADVICE)
    : warning(id, `${seen}: tokens expire too early or too late by that much.`, ADVICE);
};
