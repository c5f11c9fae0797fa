const seconds = (milliseconds: number): string => {
  const total = Math.round(milliseconds / 1_000);
  return `${Math.floor(total / 60)}:${String(total % 60).padStart(2, '0')}`;
};

const startedAt = performance.now();

/** A line on the terminal for each thing that was measured, with the time since the start. */
export const progress = (text: string): void =>
  console.log(`${seconds(performance.now() - startedAt).padStart(5)}  ${text}`);
