import { styleText } from 'node:util';
import { printable } from '../printable.ts';

type Line = Readonly<Record<string, unknown>>;
type Style = Parameters<typeof styleText>[0];

/** Members that are the same in every line, or shown elsewhere in it. */
const HIDDEN = new Set([
  ...['time', 'level', 'msg', 'err', 'requestId', 'address'],
  ...['pid', 'hostname', 'environment', 'version'],
]);
const LEVEL_STYLES: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', fatal: 'red' };
const REQUEST = 'request answered';

/**
 * Formats a JSON line of the log for a terminal: a line for each request, with code and reason if it was refused. Without colors if
 * standard output does not support them.
 * @param requestsLogged whether the level of the log includes the lines of requests: the separate line of a refusal
 *   is then redundant, and becomes the empty string.
 */
export const terminalFormat =
  (requestsLogged: boolean) =>
  (json: string): string => {
    // The logger writes JSON objects only.
    const line: Line = JSON.parse(json);
    if (requestsLogged && isRefusal(line)) return '';
    const text = line.msg === REQUEST ? requestText(line) : messageText(line);
    return `${styleText('dim', timeOf(line))} ${text}\n${errorText(line.err)}`;
  };

/** Whether the line is about an exception without a stack: its code and reason are also in the line of the request. */
const isRefusal = ({ msg, requestId, code, status, err }: Line): boolean =>
  msg !== REQUEST && requestId !== undefined && code !== undefined && status !== undefined && err === undefined;

const requestText = ({ level, method, target, path, status, duration, requestId, code, reason }: Line): string => {
  const slow = LEVEL_STYLES[String(level)];
  const time = `${String(duration)} ms`;
  return [
    shown(method),
    shown(target ?? path ?? ''),
    styleText(statusStyle(Number(status)), String(status)),
    slow === undefined ? time : styleText(slow, `${time} (slow)`),
    styleText('dim', shown(requestId)),
    ...(code === undefined ? [] : [shown(code)]),
    ...(reason === undefined ? [] : [`(${shown(reason)})`]),
  ].join(' ');
};

const statusStyle = (status: number): Style => {
  if (status >= 500) return 'red';
  return status >= 400 ? 'yellow' : 'green';
};

const messageText = (line: Line): string => {
  const { level, msg = '', requestId } = line;
  const style = LEVEL_STYLES[String(level)];
  const label = style === undefined ? [] : [styleText(style, String(level).toUpperCase())];
  const members = Object.entries(line)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => `${name}=${shown(value)}`);
  const id = requestId === undefined ? [] : [styleText('dim', shown(requestId))];
  return [...label, shown(msg), ...members, ...id].join(' ');
};

/** A serialized error and its causes. */
const errorText = (error: unknown): string => {
  if (typeof error !== 'object' || error === null) return '';
  // Every object has string keys with unknown values.
  const { type = 'Error', message, stack = '', cause } = error as Line;
  const title = message === undefined ? String(type) : `${String(type)}: ${String(message)}`;
  // The stack of a redacted error has frames only.
  const text = String(stack).startsWith(String(type)) ? String(stack) : `${title}\n${String(stack)}`;
  const indented = text.split('\n').map((each) => `    ${shown(each)}\n`);
  return `${indented.join('')}${errorText(cause)}`;
};

/** Local time to the millisecond. */
const timeOf = ({ time }: Line): string => {
  const date = new Date(String(time));
  const digits = (value: number, length = 2) => String(value).padStart(length, '0');
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => digits(part)).join(':');
  return `${clock}.${digits(date.getMilliseconds(), 3)}`;
};

const shown = (value: unknown): string => printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
