/** A time for people. */
export const timeText = (time: string): string => new Date(time).toLocaleString();
