import type { MailValue } from './kinds.ts';
import { sanitize } from './sanitize.ts';

const SECOND = 1_000;
const UNITS = [
  ['day', 86_400 * SECOND],
  ['hour', 3_600 * SECOND],
  ['minute', 60 * SECOND],
  ['second', SECOND],
] as const;

/** A duration in its largest whole unit: `30 minutes`, `90 Sekunden`. @param milliseconds a multiple of 1,000. */
export const durationText = (milliseconds: number, locale: string): string => {
  const [unit, size] = UNITS.find(([, size]) => milliseconds % size === 0) ?? ['second', SECOND];
  const count = Math.round(milliseconds / size);
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
};

const TIME = {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
  timeZoneName: 'short',
} as const;

/** `22. November 2026 um 08:05 UTC`. @param time epoch milliseconds. */
export const timeText = (time: number, locale: string): string => new Intl.DateTimeFormat(locale, TIME).format(time);

const NOTHING = '—';

/** A value as the mail shows it, before it is escaped. What clients choose is sanitized. */
export const shown = (value: MailValue, locale: string, { isTrusted }: { readonly isTrusted: boolean }): string => {
  if (typeof value === 'string') return (isTrusted ? value : sanitize(value)) || NOTHING;
  if ('duration' in value) return durationText(value.duration, locale);
  if ('time' in value) return timeText(value.time, locale);
  return value.map((text) => `"${sanitize(text)}"`).join(', ') || NOTHING;
};

/** RFC 5322 §2.1.1 asks for 78 characters at most. */
const WIDTH = 76;

/** Wraps a text into lines. A word longer than a line is broken. */
export const wrapped = (text: string): string => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap(pieces)) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
};

const pieces = (word: string): string[] => {
  const points = [...word];
  const count = Math.max(1, Math.ceil(word.length / WIDTH));
  const size = Math.ceil(points.length / count);
  return Array.from({ length: count }, (_, at) => points.slice(at * size, (at + 1) * size).join(''));
};
