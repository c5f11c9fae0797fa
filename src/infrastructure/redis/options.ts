import type { RedisOptions } from 'ioredis';
import { hostOf } from '../config/hosts.ts';
import { databaseIn, isSentinelUrl, masterIn } from '../config/redis-url.ts';

/** Milliseconds. A machine that is gone must not keep the others from being asked. */
const SENTINEL_TIMEOUTS = { connectTimeout: 2_000, sentinelCommandTimeout: 1_000 };

export type Address = { readonly host: string; readonly port: number };

/** The hosts of REDIS_URL: a server, nodes of a cluster, or sentinels. */
export const addressesOf = (urls: readonly string[]): Address[] =>
  urls.map((text) => {
    const url = new URL(text);
    return { host: hostOf(url), port: Number(url.port || (isSentinelUrl(text) ? 26_379 : 6_379)) };
  });

/** Credentials, TLS and address family of Redis, which all URLs have in common. */
export const accessOf = (url: string): Pick<RedisOptions, 'username' | 'password' | 'family' | 'tls'> => {
  const { username, password, searchParams } = new URL(url);
  const family = searchParams.get('family');
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(family !== null && { family: Number(family) }),
    ...(hasTls(url) && { tls: {} }),
  };
};

/** How one server is found: by its address, or by sentinels. */
export const serverOf = (urls: readonly string[]): Omit<RedisOptions, 'replyMapping'> => {
  const [url = ''] = urls;
  const addresses = addressesOf(urls);
  const db = databaseIn(url);
  if (!isSentinelUrl(url)) return { ...addresses[0], db };
  const { searchParams } = new URL(url);
  return {
    ...SENTINEL_TIMEOUTS,
    db,
    name: masterIn(url),
    sentinels: addresses,
    sentinelUsername: searchParams.get('sentinel_username') ?? undefined,
    sentinelPassword: searchParams.get('sentinel_password') ?? undefined,
    ...(hasTls(url) && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  };
};

const hasTls = (url: string): boolean => new URL(url).protocol.startsWith('rediss');
