/** The protocols of the URLs of sentinels, which know the address of the master. */
export const SENTINEL_PROTOCOLS = ['redis+sentinel:', 'rediss+sentinel:'];

export const isSentinelUrl = (text: string): boolean => SENTINEL_PROTOCOLS.includes(new URL(text).protocol);

export const databaseNumberIn = (text: string): number =>
  Number(new URL(text).pathname.split('/')[isSentinelUrl(text) ? 2 : 1] || 0);

export const masterNameIn = (text: string): string => new URL(text).pathname.split('/')[1] ?? '';

/** The host of a URL, without the brackets of IPv6, and decoded: for PostgreSQL it may be the percent-encoded path of a socket. */
export const hostOf = ({ hostname }: URL): string => decodeURIComponent(hostname).replace(/^\[|\]$/g, '');
