/** Frames of one error; a driver's error may contain two stacks. */
const MAX_FRAMES = 20;

/** A line in the exact format of V8. A message may have several lines, and some may look like a frame. */
const FRAME =
  /^ {4}at (?:async )?(?:[\w$.<>#[\] ]{1,120} \()?(?:(?:file:\/\/|node:|\/|[A-Za-z]:\\)[^\s()]{1,250}:\d{1,7}:\d{1,7}|<anonymous>|native|index \d{1,7})\)?$/;

/** The frames of an error's stack, without its message. */
export const framesOf = (error: unknown): string => {
  const stack: unknown = error instanceof Error ? error.stack : undefined;
  if (typeof stack !== 'string') return '';
  return stack
    .split('\n')
    .filter((line) => FRAME.test(line))
    .slice(0, MAX_FRAMES)
    .join('\n');
};

/** Appends the frames of a foreign error to the error that replaces it; its message and members are dropped. */
export const inPlaceOf = <Replacement extends Error>(foreign: unknown, replacement: Replacement): Replacement => {
  replacement.stack = `${replacement.stack}\n${framesOf(foreign)}`;
  return replacement;
};
