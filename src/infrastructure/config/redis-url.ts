import { isSentinelUrl, SENTINEL } from '../../adapters/redis/url.ts';
import { isUrlOf, parsed } from './schemas.ts';
import type { Rule } from './variable.ts';

/** Options of the query: others would override those of the service, such as time-outs. */
const OPTIONS = new Set(['family', 'sentinel_username', 'sentinel_password']);

/**
 * The URLs of one server, of several nodes of a cluster, or of several sentinels. Several differ only in host and port; those of a cluster
 * have no database number.
 */
export const redisUrls = parsed<readonly string[]>((text) => {
  const sentinels = eachSentinel(text.trim());
  if (sentinels !== null)
    return sentinels.every((url) => isUrlOf(url, SENTINEL) && hasHost(new URL(url))) ? sentinels : null;
  const urls = text.split(',').map((url) => url.trim());
  if (!urls.every((url) => isUrlOf(url, ['redis:', 'rediss:']))) return null;
  const parts = urls.map((url) => new URL(url));
  if (urls.length === 1) return parts.every(isRedisServer) ? urls : null;
  const ways = new Set(parts.map(({ protocol, username, password }) => [protocol, username, password].join(' ')));
  return ways.size === 1 && parts.every(isRedisNode) ? urls : null;
});

/** `redis+sentinel://user:password@a:1,b:2/master` as a URL for each host; `null` for other URLs. */
const eachSentinel = (text: string): string[] | null => {
  const [, beginning, hosts = '', end] = /^(rediss?\+sentinel:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(.*)$/s.exec(text) ?? [];
  return beginning === undefined ? null : hosts.split(',').map((host) => `${beginning}${host.trim()}${end}`);
};

const hasHost = ({ hostname }: URL): boolean => hostname !== '';

const isRedisServer = (url: URL): boolean =>
  hasHost(url) && /^(?:\/\d*)?$/.test(url.pathname) && /^(?:\?family=[046])?$/.test(url.search);

const isRedisNode = (url: URL): boolean => hasHost(url) && /^\/?$/.test(url.pathname) && url.search === '';

/** What the URLs of sentinels must have. A name consists of what Redis allows. */
export const sentinelErrors = (urls: readonly string[]): Rule[] => {
  const [text = ''] = urls;
  if (text === '' || !isSentinelUrl(text)) return [];
  const { pathname, hash, searchParams } = new URL(text);
  const names = [...searchParams.keys()];
  return [
    [
      hash !== '' || !/^\/[\w.-]+(?:\/\d*)?$/.test(pathname),
      'REDIS_URL: must name the master after the sentinels, and then at most a database number: redis+sentinel://host:26379,host:26379/name/0',
    ],
    [
      names.some((name) => !OPTIONS.has(name)) || new Set(names).size < names.length,
      'REDIS_URL: must have no query parameter except family, sentinel_username and sentinel_password, each once',
    ],
    [
      searchParams.has('family') && !/^[046]$/.test(searchParams.get('family') ?? ''),
      'REDIS_URL: must have a family of 4 or 6, or 0 for both',
    ],
    [
      searchParams.has('sentinel_username') && !searchParams.get('sentinel_password'),
      'REDIS_URL: must have sentinel_password with sentinel_username',
    ],
  ];
};
