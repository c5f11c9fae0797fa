/** Blocks the event loop of this process. */
export const blockEventLoop = (milliseconds: number): void => {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
};
