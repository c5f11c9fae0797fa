import type { MailOAuth } from '../../adapters/mailer/smtp.ts';
import type { ServerOptions, SqliteOptions } from '../../adapters/mikro-orm/options.ts';
import { hostOf, SENTINEL_PROTOCOLS } from '../../adapters/redis/url.ts';
import { address, formatOf, hasControls, itemsOf, path } from './formats.ts';
import { hookUrl, isLoopback } from './urls.ts';

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

/** Parses a URL. It needs valid percent-encoding, and must have no control characters: drivers read those in different ways. */
const urlOf = (text: string, protocols: readonly string[]): URL | undefined => {
  const url = URL.parse(text);
  const isFit = url !== null && protocols.includes(url.protocol) && !hasControls(text.trim()) && isDecodable(text);
  return isFit ? url : undefined;
};

/** The token endpoint of an authorization server. The user and the password of the URL are the id and the secret of the client. */
export const mailOAuth = formatOf<MailOAuth>(
  'an https:// URL of a token endpoint with id and secret of the client as user and password, percent-encoded, and with no parameter but scope and refresh_token',
  (text) => {
    const url = urlOf(text.trim(), ['https:', 'http:']);
    const isServer = url?.protocol === 'https:' || (url !== undefined && isLoopback(hostOf(url)));
    if (url === undefined || !isServer || url.hash !== '' || url.username === '' || url.password === '')
      return undefined;
    if (!hasOnlyParameters(['scope', 'refresh_token'], url)) return undefined;
    const { scope, refresh_token: refreshToken } = Object.fromEntries(url.searchParams);
    const [clientId, clientSecret] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    return { url: `${url.origin}${url.pathname}`, clientId, clientSecret, scope, refreshToken };
  },
);

/** The URL of an SMTP or HTTP server. Of SMTP, port 0 is refused, and control characters in the decoded user and password, which SMTP cannot send. */
export const mailUrl = formatOf<{ readonly url: string; readonly requireTls: boolean }>(
  'an smtp:// or smtps:// URL with a host, special characters of user and password percent-encoded, without path, and without query except requireTLS=false; or the https:// URL of a server of yours, or an http:// URL on this machine',
  (input) => {
    const text = input.trim();
    if (/^https?:/i.test(text)) {
      const url = hookUrl.parse(text);
      return url === undefined ? undefined : { url, requireTls: true };
    }
    const url = urlOf(text, ['smtp:', 'smtps:']);
    if (url === undefined || /[?#](?!requireTLS=false$)/.test(text)) return undefined;
    const { port, username, password, pathname } = url;
    const isServer = address.parse(hostOf(url)) !== undefined && port !== '0' && /^\/?$/.test(pathname);
    const isUser = (username !== '' || password === '') && !hasControls(decodeURIComponent(username + password));
    if (!isServer || !isUser) return undefined;
    return { url: text.replace(/\?.*$/, ''), requireTls: url.search === '' && !isLoopback(hostOf(url)) };
  },
);

/**
 * Adds the host `localhost` to the URL of a PostgreSQL behind a socket, such as `postgresql://user:password@/database?host=/cloudsql/…`, since `URL` cannot
 * parse a user without a host. The driver connects to the parameter `host`, not to `localhost`.
 */
export const withSocketHost = (text: string): string =>
  /[?&]host=/.test(text) ? text.replace(/^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?=\/)/, '$1localhost') : text;

/** Makes a URL for each host of a URL with several hosts. @param pattern captures the text before the hosts, the hosts, and the text after them */
const urlsOfNodes = (text: string, pattern: RegExp): string[] => {
  const [, beginning = '', hosts, end = ''] = pattern.exec(text) ?? [];
  return hosts === undefined ? [text] : itemsOf(hosts).map((host) => `${beginning}${host}${end}`);
};

const MYSQL_NODES = /^((?:mysql|mariadb):\/\/(?:[^@/?#]*@)?)([^@/?#]*)((?:[/?#].*)?)$/s;

type DatabaseUrl = Pick<ServerOptions, 'kind' | 'url' | 'others'> | Omit<SqliteOptions, 'tablePrefix'>;

const KINDS = {
  'postgres:': 'postgresql',
  'postgresql:': 'postgresql',
  'mariadb:': 'mariadb',
  'mysql:': 'mysql',
} as const;

/** `sqlite:path`, or also `sqlite:///path` if the path begins with a slash. */
const SQLITE = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)([^?#~][^?#]*)(?:\?synchronous=(normal|full))?$/;

/** The allowed parameters of a PostgreSQL URL. Of others, the driver ignores some (`schema`), and some override options of the service (time-outs). */
const POSTGRESQL = [
  ...['host', 'port', 'user', 'password', 'application_name', 'options', 'lock_timeout'],
  ...['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'uselibpqcompat'],
];

/** Whether a URL has only parameters in `allowed`, each at most once. */
const hasOnlyParameters = (allowed: readonly string[], { searchParams }: URL): boolean =>
  [...searchParams.keys()].every((name, index, names) => allowed.includes(name) && names.indexOf(name) === index);

const hasFitParameters = (url: URL): boolean => {
  const { protocol, host, searchParams } = url;
  if (/,|%2c/i.test(host + (searchParams.get('host') ?? ''))) return false;
  return protocol.startsWith('postgres')
    ? hasOnlyParameters(POSTGRESQL, url)
    : [...searchParams].every(([name, value]) => name === 'ssl' && value === 'true');
};

export const databaseUrl = formatOf<DatabaseUrl>(
  `a postgresql:// URL with special characters percent-encoded and with one host (one that follows the primary, such as that of a proxy before several servers, or the directory of a socket as ?host=), with no parameter but ${POSTGRESQL.join(', ')}, each once; a mariadb:// or mysql:// URL, with the hosts of all nodes of a cluster such as a:3306,b:3306, and no parameter but ssl=true, which is TLS with a verified certificate; or sqlite: and the path of a file`,
  (input) => {
    const [, file, synchronous = 'normal'] = SQLITE.exec(input) ?? [];
    if (file !== undefined)
      return file !== ':memory:' && path.parse(file) !== undefined
        ? { kind: 'sqlite', path: file, synchronous: synchronous === 'full' ? 'full' : 'normal' }
        : undefined;
    const [text = '', ...others] = urlsOfNodes(withSocketHost(input), MYSQL_NODES);
    const [url, ...further] = [text, ...others].map((each) => urlOf(each, Object.keys(KINDS)));
    if (url === undefined || !hasFitParameters(url) || !further.every((each) => each && each.hostname !== ''))
      return undefined;
    // The cast: `urlOf` returns only URLs with a protocol of `KINDS`.
    return { kind: KINDS[url.protocol as keyof typeof KINDS], url: text, ...(others.length > 0 && { others }) };
  },
);

const isServer = ({ hostname, pathname, search }: URL): boolean =>
  hostname !== '' && /^(?:\/\d*)?$/.test(pathname) && /^(?:\?family=[046])?$/.test(search);
const isNode = (url: URL): boolean => url.hostname !== '' && /^\/?$/.test(url.pathname) && url.search === '';

/** The parameters of the query that are allowed. Some others, such as time-outs, would override options of the service. */
const SENTINEL_OPTIONS = ['family', 'sentinel_username', 'sentinel_password'];

const isSentinel = (url: URL): boolean => {
  const { hostname, pathname, hash, searchParams: options } = url;
  return (
    hostname !== '' &&
    hash === '' &&
    /^\/[\w.-]+(?:\/\d*)?$/.test(pathname) &&
    hasOnlyParameters(SENTINEL_OPTIONS, url) &&
    /^[046]$/.test(options.get('family') ?? '0') &&
    (!options.has('sentinel_username') || Boolean(options.get('sentinel_password')))
  );
};

const SENTINELS = /^(rediss?\+sentinel:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(.*)$/s;

/** The URL of one server, or a URL for each node of a cluster or each sentinel. These URLs differ only in host and port. */
export const redisUrls = formatOf<readonly string[]>(
  'a redis:// or rediss:// URL with special characters percent-encoded and no query parameter except family=4, 6 or 0; the URLs of several nodes of a cluster, separated by commas, that differ only in host and port; or the sentinels and the name of their master in a URL such as redis+sentinel://user:password@host:port,host:port/master/0 (rediss+sentinel:// with TLS), with no query parameter except family, sentinel_username and sentinel_password, each once',
  (text) => {
    const isSentinels = SENTINELS.test(text.trim());
    const texts = isSentinels ? urlsOfNodes(text.trim(), SENTINELS) : itemsOf(text);
    const urls = texts.map((url) => urlOf(url, isSentinels ? SENTINEL_PROTOCOLS : ['redis:', 'rediss:']));
    const validUrls = urls.filter((url) => url !== undefined);
    const credentials = new Set(
      validUrls.map(({ protocol, username, password }) => [protocol, username, password].join(' ')),
    );
    if (validUrls.length < urls.length || credentials.size !== 1) return undefined;
    const [isFit] = isSentinels ? [isSentinel] : validUrls.length === 1 ? [isServer] : [isNode];
    return validUrls.every(isFit) ? texts : undefined;
  },
);
