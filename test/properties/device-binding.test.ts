import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import type { SessionRepository } from '../../src/application/ports/session-repository.ts';
import { play } from '../support/binding/play.ts';
import { programs } from '../support/binding/program.ts';
import { holds } from '../support/properties/properties.ts';

/*
 * A browser with a bound session, and thieves with any copy of its cookies and bodies: answers are lost, late and in any order, requests
 * are repeated, the store fails and forgets. Each run prints the seeds of its properties;
 * `FC_SEED=<seed> vitest run test/properties/device-binding.test.ts` repeats it.
 */

/** What has to happen in some program, so that the property is not about nothing. */
const SEEN = [
  'rotated',
  'replayable',
  'recovered',
  'unproven',
  'browser with a proof: a token',
  'browser with a proof: AUTH_PROOF_EXPIRED',
  'browser with a proof: DB_QUERY_FAILED',
  'browser with a proof: timed out',
  'thief with null: AUTH_DEVICE_UNPROVEN',
  'thief with nonsense: AUTH_DEVICE_UNPROVEN',
  'thief with its own: AUTH_DEVICE_UNPROVEN',
  // Used, or too old.
  'thief with a proof: AUTH_PROOF_EXPIRED',
  // Before the request that it was copied from has arrived.
  'thief with a proof: a token',
];
const inWords = (line: string): string =>
  line
    .trim()
    .replace(/browser\.\d+\.\d+/, 'a proof')
    .replace(/thief\.\d+\.\d+/, 'its own');

/** The store; the scheduler decides when each call and each result arrives. */
const inAnyOrder =
  (scheduler: fc.Scheduler) =>
  (store: SessionRepository): SessionRepository => {
    const slow =
      <Given extends unknown[], Answer>(name: string, call: (...given: Given) => Promise<Answer>) =>
      async (...given: Given): Promise<Answer> => {
        await scheduler.schedule(Promise.resolve(), `${name} arrives`);
        const answer = await call(...given);
        await scheduler.schedule(Promise.resolve(), `${name} is answered`);
        return answer;
      };
    return {
      ...store,
      find: slow('find', store.find),
      rotate: slow('rotate', store.rotate),
      useProof: slow('useProof', store.useProof),
    };
  };

describe('a session with a key of its device', () => {
  const played = async (attacks: boolean, seen = new Set<string>()) => {
    const program = programs({ maxLength: 40, attacks });
    const property = fc.asyncProperty(program, fc.scheduler(), async (given, scheduler) => {
      const options = {
        between: inAnyOrder(scheduler),
        whileAllArrive: (requests: Promise<unknown>) => scheduler.waitFor(requests),
      };
      for (const line of await play(memoryStorage(), given, options)) seen.add(inWords(line));
    });
    await holds(property, { numRuns: 1_500 });
    return seen;
  };

  it('is never ended by its own browser, causes no alarm, and the browser always comes back', async () => {
    await played(false);
  });

  it('yields a thief nothing for any copy, except once for a body that has not arrived yet, and goes on', async () => {
    const seen = await played(true);
    expect(SEEN.filter((each) => !seen.has(each))).toEqual([]);
  });
});
