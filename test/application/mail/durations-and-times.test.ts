import { describe, expect, it } from 'vitest';
import { durationText, timeText, wrapText } from '../../../src/application/mail/write-mail.ts';

describe('a duration', () => {
  it.each([
    [1_000, '1 second'],
    [90_000, '90 seconds'],
    [1_800_000, '30 minutes'],
    [3_600_000, '1 hour'],
    [86_400_000, '1 day'],
    [129_600_000, '36 hours'],
    [604_800_000, '7 days'],
  ])('of %i ms is %s', (milliseconds, text) => {
    expect(durationText(milliseconds, 'en')).toBe(text);
  });

  it('is in the language of the reader', () => {
    expect([1_800_000, 86_400_000, 604_800_000].map((time) => durationText(time, 'de-AT'))).toEqual([
      '30 Minuten',
      '1 Tag',
      '7 Tage',
    ]);
  });
});

describe('a time', () => {
  it('is in UTC, whatever the time zone of the service is', () => {
    expect(timeText(Date.UTC(2026, 10, 22, 8, 5, 59), 'en-GB')).toBe('22 November 2026 at 08:05 UTC');
    expect(timeText(Date.UTC(2026, 0, 1, 0, 0), 'en-GB')).toBe('1 January 2026 at 00:00 UTC');
  });

  it('is in the language of the reader', () => {
    const time = Date.UTC(2026, 10, 22, 20, 5);
    expect(timeText(time, 'de')).toBe('22. November 2026 um 20:05 UTC');
    expect(timeText(time, 'en')).toMatch(/^November 22, 2026 at 08:05\sPM UTC$/);
  });
});

it.each([
  ['', ''],
  ['short', 'short'],
  [`${'a'.repeat(76)}`, 'a'.repeat(76)],
  [`${'a'.repeat(70)} ${'b'.repeat(5)} c`, `${'a'.repeat(70)} ${'b'.repeat(5)}\nc`],
  ['x'.repeat(200), `${'x'.repeat(67)}\n${'x'.repeat(67)}\n${'x'.repeat(66)}`],
  [`a ${'👋'.repeat(60)}`, `a ${'👋'.repeat(30)}\n${'👋'.repeat(30)}`],
])('a paragraph %j has lines that every mail program shows', (text, lines) => {
  expect(wrapText(text)).toBe(lines);
});
