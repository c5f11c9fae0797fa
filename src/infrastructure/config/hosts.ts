import { isIP, isIPv4 } from 'node:net';

/** The host of a URL without the brackets of IPv6. A path of the file system, percent-encoded, is one of PostgreSQL's. */
export const hostOf = ({ hostname }: URL): string => decodeURIComponent(hostname).replace(/^\[|\]$/g, '');

/** Whether nothing that is sent there leaves the machine: a loopback address, a socket of the file system, or no host. */
export const isLoopback = (host: string): boolean =>
  host === '' ||
  host.startsWith('/') ||
  /^(?:.+\.)?localhost$/i.test(host) ||
  host === '::1' ||
  (isIPv4(host) && host.startsWith('127.'));

/** Whether only a network of containers, or the like, knows the name: it has no dot. */
const isLocalName = (host: string): boolean => isIP(host) === 0 && !host.includes('.');

/** Whether the way there leads over networks that others may listen on. */
export const isFar = (host: string): boolean => !isLoopback(host) && !isLocalName(host);

/** Whether it is an http URL of another machine. */
export const isPlainHttp = (text: string): boolean => {
  const url = new URL(text);
  return url.protocol === 'http:' && !isLoopback(hostOf(url));
};
