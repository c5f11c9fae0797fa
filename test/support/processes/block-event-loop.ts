/** Keeps this process from doing anything else for so many milliseconds, as much work at once does. */
export const blockEventLoop = (milliseconds: number): void => {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
};
