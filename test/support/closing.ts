import { onTestFinished, TestRunner } from 'vitest';

const ofFile: (() => unknown)[] = [];

/** Runs it at the end of the test, or of the file if it is called outside of a test: what was opened last is closed first. */
export const atEnd = (close: () => unknown): void => {
  if (TestRunner.getCurrentTest() === undefined) ofFile.push(close);
  else onTestFinished(async () => void (await close()));
};

/** What closes something: at the end of the test or file, unless it was called before. */
export const closing = (close: () => void | Promise<void>): (() => Promise<void>) => {
  let closed: Promise<void> | undefined;
  const once = () => {
    closed ??= Promise.resolve(close());
    return closed;
  };
  atEnd(() => (closed === undefined ? once() : closed.catch(() => undefined)));
  return once;
};

export const closeAll = async (): Promise<void> => {
  for (const close of ofFile.splice(0).toReversed()) await close();
};
