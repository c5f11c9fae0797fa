/** Of one stack; a driver's error may have two in one. */
const MAX_FRAMES = 20;

/** A line that the engine wrote. A message may have lines of its own, and these may begin like one. */
const FRAME =
  /^ {4}at (?:async )?(?:[\w$.<>#[\] ]{1,120} \()?(?:(?:file:\/\/|node:|\/|[A-Za-z]:\\)[^\s()]{1,250}:\d{1,7}:\d{1,7}|<anonymous>|native|index \d{1,7})\)?$/;

/** Where an error happened: the frames of its stack, without its message. */
export const framesOf = (error: unknown): string => {
  const stack: unknown = error instanceof Error ? error.stack : undefined;
  if (typeof stack !== 'string') return '';
  return stack
    .split('\n')
    .filter((line) => FRAME.test(line))
    .slice(0, MAX_FRAMES)
    .join('\n');
};

/** The error that takes a foreign one's place, with the places of both. The foreign one's words and members stay behind. */
export const inPlaceOf = <Replacement extends Error>(foreign: unknown, replacement: Replacement): Replacement => {
  replacement.stack = `${replacement.stack}\n${framesOf(foreign)}`;
  return replacement;
};
