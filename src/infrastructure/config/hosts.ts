import { isIP, isIPv4 } from 'node:net';
import { hostOf } from '../../adapters/redis/url.ts';

/** Whether traffic to the host stays on the machine: a loopback address, a socket of the file system, or no host. */
export const isLoopback = (host: string): boolean =>
  host === '' ||
  host.startsWith('/') ||
  /^(?:.+\.)?localhost$/i.test(host) ||
  host === '::1' ||
  (isIPv4(host) && host.startsWith('127.'));

/** Whether traffic to the host may cross networks that others can read. A name without a dot is one of a container network. */
export const isFar = (host: string): boolean => !isLoopback(host) && (isIP(host) !== 0 || host.includes('.'));

/** Whether the text is an http URL of another machine. */
export const isPlainHttp = (text: string): boolean => {
  const url = new URL(text);
  return url.protocol === 'http:' && !isLoopback(hostOf(url));
};

/**
 * The URL of a PostgreSQL behind a socket, such as `postgresql://user:password@/database?host=/cloudsql/…`, with a host before the path: without one, a
 * URL (WHATWG) has neither user nor password. `localhost` is not asked, since the driver prefers the parameter.
 */
export const withHost = (text: string): string =>
  /[?&]host=/.test(text) ? text.replace(/^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?=\/)/, '$1localhost') : text;
