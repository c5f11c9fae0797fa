/** Blocks the event loop of this process for so many milliseconds. */
export const blockEventLoop = (milliseconds: number): void => {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
};
