import { parseArgs } from 'node:util';

/** The settings of SPEC "Refresh cookie" and "Key configuration" that show in responses. */
type Settings = {
  /** Seconds. */
  readonly accessLifetime: number;
  readonly refreshLifetime: number;
  readonly cookieMaxAge: number;
  readonly cookiePath: string;
  readonly cookieSameSite: string;
  readonly cookieSecure: boolean;
};

type GuardedRoute = { readonly path: string; readonly isDefault: boolean };

export type Options = {
  readonly url: URL;
  /** An origin on the allow-list of the instance. */
  readonly origin: string | undefined;
  readonly keySet: string;
  readonly routes: { readonly required: GuardedRoute; readonly optional: GuardedRoute };
  readonly settings: Settings;
  readonly extended: boolean;
  readonly rateLimits: boolean;
  /** Ids of checks; empty for all. */
  readonly only: readonly string[];
  /** Milliseconds. */
  readonly timeout: number;
  /** Seconds. */
  readonly patience: number;
  readonly json: boolean;
  readonly list: boolean;
  readonly help: boolean;
};

/** The suite cannot run as it was called. */
export class Unusable extends Error {}

export const USAGE = `Usage: npm run conformance -- URL [options]

Checks a running instance from outside against the specification. It registers one account with a random name.

  --origin ORIGIN         an origin on the allow-list, for the checks of CORS
  --set NAME=VALUE        a variable that the instance runs with, where it is not the default:
                          JWT_ACCESS_EXPIRES_IN, JWT_REFRESH_EXPIRES_IN, JWT_REFRESH_COOKIE_PATH,
                          JWT_REFRESH_COOKIE_SAME_SITE, JWT_REFRESH_COOKIE_SECURE, JWT_REFRESH_COOKIE_MAX_AGE_MS
  --required-route PATH   a GET route of the strategy "required" (default /users/me, if there is one)
  --optional-route PATH   a GET route of the strategy "optional" (default /auth/session, if there is one)
  --key-set PATH          the published keys (default /.well-known/jwks.json, if there is one)
  --extended              also what the specification leaves open and Tandem has decided
  --rate-limits           also the rate limit: locks this client out of log-in for its window, a minute
  --only ID               only this check; can be repeated
  --timeout SECONDS       time for each request (default 35)
  --patience SECONDS      time to wait for rate limits, in all (default 180)
  --json                  the report as JSON
  --list                  list the checks that would run, with their sources, and exit

Exit status: 0 every check held, 1 a check failed, 2 the suite could not run.`;

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

const seconds = (name: string, text: string): number => {
  const [, amount, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  if (amount === undefined || Number(amount) === 0) throw new Unusable(`${name}: not a time: ${text}`);
  return Number(amount) * (UNITS[unit] ?? 1);
};

const DEFAULTS: Readonly<Record<string, string>> = {
  JWT_ACCESS_EXPIRES_IN: '15m',
  JWT_REFRESH_EXPIRES_IN: '7d',
  JWT_REFRESH_COOKIE_PATH: '/auth',
  JWT_REFRESH_COOKIE_SAME_SITE: 'lax',
  JWT_REFRESH_COOKIE_SECURE: 'false',
  JWT_REFRESH_COOKIE_MAX_AGE_MS: '604800000',
};

const settingsFrom = (pairs: readonly string[]): Settings => {
  const values = { ...DEFAULTS };
  for (const pair of pairs) {
    const [name = '', ...value] = pair.split('=');
    if (!(name in DEFAULTS) || value.length === 0)
      throw new Unusable(`--set: not NAME=VALUE of a known variable: ${pair}`);
    values[name] = value.join('=');
  }
  const of = (name: string): string => values[name] ?? '';
  if (!/^\d{4,15}$/.test(of('JWT_REFRESH_COOKIE_MAX_AGE_MS')))
    throw new Unusable('JWT_REFRESH_COOKIE_MAX_AGE_MS: not a number');
  return {
    accessLifetime: seconds('JWT_ACCESS_EXPIRES_IN', of('JWT_ACCESS_EXPIRES_IN')),
    refreshLifetime: seconds('JWT_REFRESH_EXPIRES_IN', of('JWT_REFRESH_EXPIRES_IN')),
    cookieMaxAge: Math.floor(Number(of('JWT_REFRESH_COOKIE_MAX_AGE_MS')) / 1000),
    cookiePath: of('JWT_REFRESH_COOKIE_PATH'),
    cookieSameSite: of('JWT_REFRESH_COOKIE_SAME_SITE').toLowerCase(),
    cookieSecure: of('JWT_REFRESH_COOKIE_SECURE') === 'true',
  };
};

const urlFrom = (positionals: readonly string[]): URL => {
  const [text = '', ...others] = positionals;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || others.length > 0 || !['http:', 'https:'].includes(url.protocol))
    throw new Unusable('name one address of the instance, such as http://localhost:3000');
  if (url.search !== '' || url.hash !== '' || url.username !== '')
    throw new Unusable('an address has no query, fragment or user');
  return url;
};

const pathFrom = (name: string, path: string): string => {
  if (!/^\/[\x21-\x7e]*$/.test(path)) throw new Unusable(`--${name}: not a path: ${path}`);
  return path;
};

const parse = (args: readonly string[]) => {
  const text = { type: 'string' } as const;
  const texts = { type: 'string', multiple: true } as const;
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        origin: text,
        set: texts,
        'required-route': text,
        'optional-route': text,
        'key-set': { ...text, default: '/.well-known/jwks.json' },
        extended: flag,
        'rate-limits': flag,
        only: texts,
        timeout: { ...text, default: '35' },
        patience: { ...text, default: '180' },
        json: flag,
        list: flag,
        help: flag,
      },
    });
  } catch (error) {
    throw new Unusable((error as Error).message);
  }
};

/** @throws Unusable */
export const parseOptions = (args: readonly string[]): Options => {
  const { values, positionals } = parse(args);
  const guarded = (name: 'required-route' | 'optional-route', byDefault: string): GuardedRoute => ({
    path: pathFrom(name, values[name] ?? byDefault),
    isDefault: values[name] === undefined,
  });
  if (values.origin !== undefined && !/^[a-z][a-z\d+.-]*:\/\/[^\s/]+$/i.test(values.origin))
    throw new Unusable(`--origin: not an origin: ${values.origin}`);
  return {
    url: (values.list || values.help) && positionals.length === 0 ? new URL('http://localhost') : urlFrom(positionals),
    origin: values.origin,
    keySet: pathFrom('key-set', values['key-set']),
    routes: { required: guarded('required-route', '/users/me'), optional: guarded('optional-route', '/auth/session') },
    settings: settingsFrom(values.set ?? []),
    extended: values.extended,
    rateLimits: values['rate-limits'],
    only: values.only ?? [],
    timeout: seconds('--timeout', values.timeout) * 1000,
    patience: values.patience === '0' ? 0 : seconds('--patience', values.patience),
    json: values.json,
    list: values.list,
    help: values.help,
  };
};
