/** Errors of the engine itself: their messages name members and types, not what was stored or sent. */
const OF_THE_ENGINE: ReadonlySet<string> = new Set(['TypeError', 'RangeError', 'ReferenceError']);
const MAX_CAUSES = 3;

/** What the log may know of a foreign exception: its kind and its place. Its words may quote SQL, parameters or a body. */
export const withoutWords = (exception: unknown, causes = MAX_CAUSES): unknown => {
  if (exception === undefined) return undefined;
  if (!(exception instanceof Error)) return { type: typeof exception };
  const { name, message, stack = '', cause } = exception;
  const code: unknown = Reflect.get(exception, 'code');
  return {
    type: name,
    ...(OF_THE_ENGINE.has(name) && { message }),
    ...(typeof code === 'string' && { code }),
    stack: placesOf(stack),
    ...(cause !== undefined && causes > 0 && { cause: withoutWords(cause, causes - 1) }),
  };
};

/** A stack begins with the message, which may have lines of its own. */
const placesOf = (stack: string): string =>
  stack
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .join('\n');
