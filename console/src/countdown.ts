/** @returns the milliseconds that are left of so many from now on, also after the machine was asleep or its clock was set. */
export const countdown = (milliseconds: number): (() => number) => {
  const [start, at] = [performance.now(), Date.now()];
  return () => Math.max(0, milliseconds - Math.max(performance.now() - start, Date.now() - at));
};

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** The two largest units, as `14 min 32 s`. */
export const durationText = (milliseconds: number): string => {
  let rest = Math.ceil(milliseconds / 1000);
  const parts: string[] = [];
  for (const [name, seconds] of UNITS) {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    if (count > 0 || parts.length > 0) parts.push(`${count} ${name}`);
  }
  return parts.slice(0, 2).join(' ') || '0 s';
};
