import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReplayPolicy } from '../../src/domain/token-status.ts';
import { ADA, application, MINUTE, SECOND } from '../support/application.ts';
import { holds } from '../support/properties/properties.ts';
import { reportsOf } from '../support/reports.ts';

/*
 * Tabs of one browser that refresh at about the same time, in any order and with any delay. Each run prints the
 * seeds of its properties; `FC_SEED=<seed> vitest run test/properties/tabs.test.ts` repeats it.
 */

const WINDOW = 10 * SECOND;
const TABS = 6;
const ATTEMPTS = 4;

/** Milliseconds that each request takes to arrive; their sum is within the window. */
const delays = fc.array(fc.nat({ max: Math.floor(WINDOW / (TABS * ATTEMPTS)) }), {
  minLength: TABS * ATTEMPTS,
  maxLength: TABS * ATTEMPTS,
});

/**
 * Refreshes from every tab with the browser's current cookie, and retries a few times after a refusal, as docs/browser.md
 * advises.
 */
const renewAtOnce = async (replayPolicy: ReplayPolicy, tabs: number, scheduler: fc.Scheduler, steps: number[]) => {
  const outcomes: string[] = [];
  const app = application({ replayPolicy, report: reportsOf('refresh', (outcome) => outcomes.push(outcome)) });
  const browser = { cookie: (await app.register(ADA)).refreshToken };
  app.clock.advance(MINUTE);
  const renew = async (): Promise<void> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await scheduler.schedule(Promise.resolve(), 'a tab begins');
      const sent = browser.cookie;
      await scheduler.schedule(Promise.resolve(), 'its request arrives');
      app.clock.advance(steps.pop() ?? 0);
      const pair = await app.refresh([sent]).catch(() => null);
      await scheduler.schedule(Promise.resolve(), 'its answer arrives');
      if (pair === null) continue;
      browser.cookie = pair.refreshToken;
      return;
    }
  };
  const done = Array.from({ length: tabs }, renew);
  await scheduler.waitIdle();
  await Promise.all(done);
  return { app, browser, outcomes };
};

describe('tabs that refresh at the same time', () => {
  const tabs = fc.integer({ min: 2, max: TABS });

  it('never end their session, and leave the browser a cookie that works', async () => {
    const strict = { raceWindow: WINDOW, replayWindow: 0 };
    const property = fc.asyncProperty(tabs, fc.scheduler(), delays, async (count, scheduler, steps) => {
      const { app, browser, outcomes } = await renewAtOnce(strict, count, scheduler, [...steps]);
      expect(outcomes).not.toContain('reused');
      app.clock.advance(15 * MINUTE);
      expect(await app.refresh([browser.cookie])).toHaveProperty('accessToken');
    });
    await holds(property, { numRuns: 1_000 });
  });

  it('all succeed with a replay window, by one rotation', async () => {
    const kind = { raceWindow: WINDOW, replayWindow: WINDOW + 1 };
    const property = fc.asyncProperty(tabs, fc.scheduler(), delays, async (count, scheduler, steps) => {
      const { app, browser, outcomes } = await renewAtOnce(kind, count, scheduler, [...steps]);
      expect(outcomes.filter((outcome) => outcome === 'rotated')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'replayable')).toHaveLength(count - 1);
      app.clock.advance(15 * MINUTE);
      expect(await app.refresh([browser.cookie])).toHaveProperty('accessToken');
    });
    await holds(property, { numRuns: 1_000 });
  });
});
