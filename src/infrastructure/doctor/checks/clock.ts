import { inWords } from '../durations.ts';
import { type Finding, ok, problem, warning } from '../finding.ts';

export type ClockFacts = {
  /** Milliseconds by which the other clock is ahead of this machine's; negative when it is behind. */
  readonly ahead: number;
  /** Milliseconds by which `ahead` may be wrong. */
  readonly uncertainty: number;
};

/** Milliseconds. Access tokens are checked in whole seconds. */
const NOTICEABLE = 1_000;
const SYNCHRONIZE = 'Synchronize the clocks of all machines with NTP: docs/deploy.md, "Several instances".';

/** The difference from the middle of a request for the time. All in milliseconds since 1970. */
export const clockFacts = (before: number, other: number, after: number): ClockFacts => ({
  ahead: other - (before + after) / 2,
  uncertainty: (after - before) / 2,
});

/** @param of whose clock it is. @param raceWindow milliseconds. */
export const clockFindings = (id: string, of: string, facts: ClockFacts, raceWindow: number): Finding[] => {
  const certain = Math.max(0, Math.abs(facts.ahead) - facts.uncertainty);
  const difference = `The clock of this machine is ${inWords(Math.abs(facts.ahead))} ${facts.ahead > 0 ? 'behind' : 'ahead of'} that of ${of}`;
  if (certain > raceWindow)
    return [
      problem(
        id,
        `${difference}, more than JWT_REFRESH_RACE_WINDOW: two tabs that refresh at once can count as theft.`,
        SYNCHRONIZE,
      ),
    ];
  if (certain > NOTICEABLE)
    return [warning(id, `${difference}: tokens expire too early or too late by that much.`, SYNCHRONIZE)];
  return [ok(id, `The clocks of this machine and of ${of} agree.`)];
};
