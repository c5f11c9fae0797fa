import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RefreshToken } from '../../src/application/ports/token-signer.ts';
import { NOT_REQUIRED } from '../../src/domain/device-binding.ts';
import { tokenStatus } from '../../src/domain/token-status.ts';
import { ADA, application, SECOND, unreliable } from '../support/application.ts';
import { plainTokenSigner } from '../support/fakes.ts';
import { holds } from '../support/properties/properties.ts';

/*
 * Refreshes of one session at any pace, by anyone who has its tokens. Each run prints the seeds of its properties;
 * `FC_SEED=<seed> vitest run test/properties/replays.test.ts` repeats it.
 */

const WINDOW = 10 * SECOND;
/** A refresh some milliseconds after the one before; one that fails is reverted. */
const step = fc.record({
  pause: fc.oneof(
    { arbitrary: fc.nat({ max: SECOND }), weight: 8 },
    { arbitrary: fc.integer({ min: WINDOW - SECOND, max: WINDOW + 2 * SECOND }), weight: 1 },
  ),
  fails: fc.constantFrom(true, ...Array<false>(7).fill(false)),
});

type Rotated = { readonly token: RefreshToken; readonly at: number };

/** @returns the status of each rotated token, and its age, when `wait` milliseconds have passed since the last rotation. */
const refreshed = async (steps: readonly { readonly pause: number; readonly fails: boolean }[], wait: number) => {
  const tokens = plainTokenSigner();
  const signRefresh = unreliable(tokens.signRefresh);
  const app = application({ tokens: { ...tokens, signRefresh } });
  const { clock, sessions, replayPolicy } = app;
  const opened = async (text: string): Promise<RefreshToken> => {
    const verified = await tokens.verifyRefresh(text, clock.now());
    return verified.ok ? verified.token : expect.unreachable(verified.reason);
  };
  let current = (await app.register(ADA)).refreshToken;
  const { sessionId: id, claims } = await opened(current);
  const rotated: Rotated[] = [];
  for (const { pause, fails } of steps) {
    clock.advance(pause);
    if (fails) {
      signRefresh.failNext();
      await expect(app.refresh([current])).rejects.toThrow('down');
      continue;
    }
    rotated.push({ token: await opened(current), at: clock.now() });
    current = (await app.refresh([current])).refreshToken;
  }
  clock.advance(wait);
  const session = await sessions.find({ id, userId: claims.sub });
  const judged = rotated.map(({ token, at }) => ({
    age: clock.now() - at,
    status: tokenStatus(session, token, { now: clock.now(), policy: replayPolicy, evidence: NOT_REQUIRED }),
  }));
  return judged;
};

describe('a rotated token that comes back', () => {
  it('is a race within the window and a theft soon after it, at whatever pace the session was refreshed', async () => {
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 60, size: 'max' }),
      fc.nat({ max: 2 * WINDOW }),
      async (steps, wait) => {
        const judged = await refreshed(steps, wait);
        for (const { age, status } of judged) {
          if (age <= WINDOW) expect(status, `${age} ms after its rotation`).toBe('raced');
          if (age > 2 * WINDOW + SECOND) expect(status, `${age} ms after its rotation`).toBe('reused');
        }
      },
    );
    await holds(property, { numRuns: 500 });
  });
});
