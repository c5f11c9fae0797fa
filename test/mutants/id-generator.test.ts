import { randomUUID } from 'node:crypto';
import { encodeTime, monotonicFactory, ulid } from 'ulid';
import { ulidGenerator } from '../../src/adapters/crypto/ulid.ts';
import type { Clock } from '../../src/application/ports/clock.ts';
import type { IdGenerator } from '../../src/application/ports/id-generator.ts';
import { describeIdGenerator } from '../contracts/id-generator.contract.ts';
import { describeMutants } from './harness/describe-mutants.ts';

const of =
  (start: (clock: Clock) => () => string) =>
  (clock: Clock): IdGenerator => ({ next: start(clock) });

const FORM = "makes ULIDs: 26 characters of Crockford's base 32";
const ORDER = 'makes ids in ascending order, even within a millisecond';

describeIdGenerator('the correct generator', ulidGenerator);

describeMutants((make: ReturnType<typeof of>, suite) => describeIdGenerator('a mutant', make, make, suite), {
  'makes UUIDs': { make: of(() => randomUUID), caughtBy: FORM },
  'makes ULIDs in lower case': { make: of((clock) => () => ulid(clock.now()).toLowerCase()), caughtBy: FORM },
  'counts from the start of its process': {
    make: of((clock) => {
      let [count, latest] = [0, 0];
      return () => {
        count += 1;
        latest = Math.max(latest, clock.now());
        return encodeTime(latest) + String(count).padStart(16, '0');
      };
    }),
    caughtBy: 'never makes an id that another generator makes',
  },
  'makes one id in a millisecond': {
    make: of((clock) => () => encodeTime(clock.now()).padEnd(26, '0')),
    caughtBy: 'never makes the same id twice',
  },
  'makes ids of a millisecond in any order': { make: of((clock) => () => ulid(clock.now())), caughtBy: ORDER },
  'begins anew when the clock steps back': {
    make: of((clock) => {
      let [next, last] = [monotonicFactory(), 0];
      return () => {
        if (clock.now() < last) next = monotonicFactory();
        last = clock.now();
        return next(last);
      };
    }),
    caughtBy: 'keeps the order when the clock steps back',
  },
});
