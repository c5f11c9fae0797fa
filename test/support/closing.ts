import { onTestFinished, TestRunner } from 'vitest';

const ofFile: (() => unknown)[] = [];

/** Runs `close` at the end of the test, or if it is called outside of a test, of the file. The last call's function runs first. */
export const runAtEnd = (close: () => unknown): void => {
  if (TestRunner.getCurrentTest() === undefined) ofFile.push(close);
  else onTestFinished(async () => void (await close()));
};

/** A function that calls `close` once. If it was not called before, it is called at the end of the test or file. */
export const closedAtEnd = (close: () => void | Promise<void>): (() => Promise<void>) => {
  let closed: Promise<void> | undefined;
  const once = () => {
    closed ??= Promise.resolve(close());
    return closed;
  };
  runAtEnd(() => (closed === undefined ? once() : closed.catch(() => undefined)));
  return once;
};

export const closeAll = async (): Promise<void> => {
  for (const close of ofFile.splice(0).toReversed()) await close();
};
