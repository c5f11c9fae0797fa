import type { IncomingMessage } from 'node:http';

/**
 * The values of a header as they came, one for each line that has its name. Not from `headersDistinct`: some releases of Node that
 * the service runs on throw there when a header is called `__proto__`.
 * @param name in lower case.
 */
export const headerValues = ({ rawHeaders }: IncomingMessage, name: string): string[] =>
  rawHeaders.filter((_value, at) => at % 2 === 1 && isNamed(rawHeaders[at - 1], name));

const isNamed = (text: string | undefined, name: string): boolean =>
  text?.length === name.length && text.toLowerCase() === name;
