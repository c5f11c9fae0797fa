import { framesOf } from './stack-frames.ts';

/** Errors of the engine itself. */
const OF_THE_ENGINE: ReadonlySet<string> = new Set(['TypeError', 'RangeError', 'ReferenceError']);
/** What of their messages names code alone. Others quote values: `Cannot create property 'a' on string 'secret'`. */
const NAMES_CODE =
  /^(?:[\w$.]{1,100} is not (?:a function|a constructor|defined|iterable)|Cannot (?:read|set) properties of (?:undefined|null) \((?:reading|setting) '\w{1,50}'\)|Maximum call stack size exceeded|Invalid time value)$/;
const CODE = /^\w{1,50}$/;
const MAX_CAUSES = 3;

/** What the log may know of a foreign exception: its kind and its place. Its words may quote SQL, parameters or a body. */
export const redactError = (exception: unknown, causes = MAX_CAUSES): unknown => {
  if (exception === undefined) return undefined;
  try {
    if (!(exception instanceof Error)) return { type: typeof exception };
    return describe(exception, causes);
  } catch {
    // A getter of it throws, or it is a proxy that does.
    return { type: 'unreadable' };
  }
};

const describe = (exception: Error, causes: number) => {
  const { name, message, cause } = exception;
  const code: unknown = Reflect.get(exception, 'code');
  return {
    type: CODE.test(name) ? name : 'Error',
    ...(OF_THE_ENGINE.has(name) && NAMES_CODE.test(message) && { message }),
    ...(typeof code === 'string' && CODE.test(code) && { code }),
    stack: framesOf(exception),
    ...(cause !== undefined && causes > 0 && { cause: redactError(cause, causes - 1) }),
  };
};
