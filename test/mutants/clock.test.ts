import type { Clock } from '../../src/application/ports/clock.ts';
import { describeClock } from '../contracts/clock.contract.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { describeMutants } from './harness/describe-mutants.ts';

const of = (now: Clock['now']) => (): Clock => ({ now });
const caughtBy = 'returns epoch milliseconds as an integer';

describeClock(
  'the correct clock',
  of(() => Date.now()),
);

describeMutants((make: ReturnType<typeof of>, suite) => describeClock('a mutant', make, undefined, suite), {
  'returns seconds': { make: of(() => Math.floor(Date.now() / 1_000)), caughtBy },
  'returns microseconds': { make: of(() => Date.now() * 1_000), caughtBy },
  'returns fractions': { make: of(() => Date.now() + 0.5), caughtBy },
  'counts from the start of the process': { make: of(() => Math.floor(performance.now())), caughtBy },
  'stands still': { make: () => fixedClock(Date.now()), caughtBy: 'advances with the time' },
  'has no time': { make: of(() => Number.NaN), caughtBy },
});
