import { expect, it, vi } from 'vitest';
import { countdown, durationText } from '../../console/src/countdown.ts';

const [SECOND, MINUTE, DAY] = [1_000, 60_000, 86_400_000];

it.each([
  [0, '0 s'],
  [1, '1 s'],
  [59 * SECOND, '59 s'],
  [15 * MINUTE, '15 min 0 s'],
  [14 * MINUTE + 31_001, '14 min 32 s'],
  [61 * MINUTE, '1 h 1 min'],
  [7 * DAY, '7 d 0 h'],
  [7 * DAY - 1, '7 d 0 h'],
  [7 * DAY - SECOND, '6 d 23 h'],
])('durationText %i ms is %s', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text);
});

it('countdown goes on while the machine sleeps, does not stop when the clock is set back, and ends at 0', () => {
  const now = vi.spyOn(Date, 'now').mockReturnValue(1_000_000);
  const left = countdown(10 * MINUTE);
  now.mockReturnValue(1_000_000 + 4 * MINUTE);
  expect(left()).toBe(6 * MINUTE);
  now.mockReturnValue(0);
  expect(left()).toBeLessThanOrEqual(10 * MINUTE);
  now.mockReturnValue(1_000_000 + DAY);
  expect(left()).toBe(0);
  now.mockRestore();
});
