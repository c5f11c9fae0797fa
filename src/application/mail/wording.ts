const SECOND = 1_000;
const UNITS = [
  ['day', 86_400 * SECOND],
  ['hour', 3_600 * SECOND],
  ['minute', 60 * SECOND],
  ['second', SECOND],
] as const;

/** `30 minutes`, in the largest unit of which it is a whole number. @param milliseconds whole seconds. */
export const durationText = (milliseconds: number): string => {
  const [name, size] = UNITS.find(([, unit]) => milliseconds % unit === 0) ?? ['second', SECOND];
  const count = Math.round(milliseconds / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
};

const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });

/** `22 November 2026, 08:05 UTC`. @param time epoch milliseconds. */
export const timeText = (time: number): string => `${DATE.format(time)}, ${TIME.format(time)} UTC`;
