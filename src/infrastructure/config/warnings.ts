import { systemClock } from '../../adapters/clock/system.ts';
import { hostOf } from '../../adapters/redis/url.ts';
import { DAY, TIERS } from './formats.ts';
import { inProduction, type Rules } from './refusals.ts';
import { baseUrlOf, cookiePathOf, hasUserPages, isProduction, originsSettingOf, pageOriginsOf } from './settings.ts';
import { isExposed, isLoopback, isPlainHttp } from './urls.ts';
import type { Env, Values } from './variables.ts';

const FIVE_MINUTES = 300_000;
const redisUrls = (env: Values): URL[] => (env.REDIS_URL ?? []).map((text) => new URL(text));
const isLocalUrl = (url: string): boolean => isLoopback(hostOf(new URL(url)));

const mayCall = (env: Values, url: string): boolean =>
  [new URL(baseUrlOf(env)).origin, ...pageOriginsOf(env)].includes(new URL(url).origin);

const IN_PRODUCTION: Rules = {
  'BASE_URL is unset: the type of every error points to localhost': (env) => env.BASE_URL === undefined,
  'TRUST_PROXY is 0, but BASE_URL is https, which requires a proxy: all clients behind it share one rate limit': (
    env,
  ) => env.BASE_URL?.startsWith('https:') && env.TRUST_PROXY === 0,
  'ALLOWED_ORIGINS_PROD has an http origin: an attacker on the network can inject scripts into its pages': (env) =>
    env.ALLOWED_ORIGINS_PROD.some(isPlainHttp),
  ...Object.fromEntries(
    TIERS.map((tier) => [
      `RATE_LIMITS has off for ${tier}: these requests of a client are not limited`,
      (env: Values) => env.RATE_LIMITS[tier] === null,
    ]),
  ),
  'REQUEST_TIMEOUT_MS is above five minutes: slow requests hold connections and memory for that long': (env) =>
    env.REQUEST_TIMEOUT_MS > FIVE_MINUTES,
  'JWT_ACCESS_EXPIRES_IN is above a day: other services accept access tokens of ended sessions until they expire': (
    env,
  ) => (env.JWT_ACCESS_EXPIRES_IN ?? 0) > DAY,
  'REDIS_URL has no password: any client that reaches that Redis can reset limits': (env) =>
    redisUrls(env).some((url) => !isLoopback(hostOf(url)) && url.password === ''),
  'REDIS_URL is redis:, not rediss:: the password and all data are sent unencrypted': (env) =>
    redisUrls(env).some((url) => !url.protocol.startsWith('rediss') && isExposed(hostOf(url))),
  'JWT_ISSUER is unset: tokens do not say who has issued them, and to set it later logs everybody out': (env) =>
    env.JWT_ISSUER === undefined,
  'JWT_AUDIENCE is unset: tokens do not say for which services they are, and to set it later logs everybody out': (
    env,
  ) => env.JWT_AUDIENCE === undefined,
  'MAIL_URL is unset: there is neither password reset nor email verification': (env) => env.MAIL_URL === undefined,
  'REGISTRATION_DOMAINS is set, but EMAIL_VERIFICATION is not required: anybody can log in with an address of these domains that is not theirs':
    (env) =>
      env.REGISTRATION_DOMAINS !== undefined && env.REGISTRATION === 'open' && env.EMAIL_VERIFICATION !== 'required',
  'HOOK_PRIVATE_KEY is unset: requests of hooks and of mail are signed with a key in DATA_DIR, and instances with another DATA_DIR have another key':
    (env) =>
      env.HOOK_PRIVATE_KEY === undefined &&
      /^http/.test(env.HOOK_BEFORE_REGISTER ?? env.VERIFY_PASSWORDS_AT ?? env.MAIL_URL?.url ?? ''),
  'FACTOR_KEYS is unset: authenticator apps are off. Make a key with `npx tandem keys factors`': (env) =>
    env.FACTOR_KEYS === undefined,
  'ACCOUNT_PAGES is unset: the service has no pages for log-in, registration and settings. Set it to on or off': (
    env,
  ) => env.ACCOUNT_PAGES === undefined,
  'LOGIN_BY_CODE is on without a page for codes, to which their mails link: set ACCOUNT_PAGES to on, or LOGIN_PAGE_URL':
    (env) =>
      env.LOGIN_BY_CODE === 'on' && !hasUserPages(env) && (env.LOGIN_PAGE_URL ?? env.ACCOUNT_PAGES_URL) === undefined,
  'ADMIN_HOST is not loopback: other machines reach the back office. Leave it on 127.0.0.1, behind a proxy with TLS': (
    env,
  ) => env.ADMIN_PORT !== null && !isLoopback(env.ADMIN_HOST),
  'ACCOUNT_PAGES_URL is http: an attacker on the network can use the links in mail, by changing the pages': (env) =>
    env.ACCOUNT_PAGES_URL !== undefined && isPlainHttp(env.ACCOUNT_PAGES_URL),
};

const EVERYWHERE: Rules = {
  'ADMIN_KEYS is set without ADMIN_PORT: there is no back office': (env) =>
    env.ADMIN_KEYS !== undefined && env.ADMIN_PORT === null,
  'ADMIN_PORT is set without ADMIN_KEYS: the back office refuses every program': (env) =>
    env.ADMIN_PORT !== null && !(env.ADMIN_KEYS ?? env.ADMIN_IDENTITY_HEADER ?? env.ADMIN_USERS),
  'NODE_ENV is not production, but HOST or BASE_URL is reachable from other machines: rate limits are higher, and insecure settings are accepted':
    (env) => !isProduction(env) && !(isLoopback(env.HOST) && isLocalUrl(env.BASE_URL ?? 'http://localhost')),
  'BASE_URL is http: passwords and tokens are sent unencrypted, and browsers reject Secure cookies': (env) =>
    env.BASE_URL !== undefined && isPlainHttp(env.BASE_URL) && (isProduction(env) || env.JWT_REFRESH_COOKIE_SECURE),
  'JWT_REFRESH_COOKIE_SAME_SITE is none, but no origin is allowed: use lax or strict to keep the cookie from other sites':
    (env) => env.JWT_REFRESH_COOKIE_SAME_SITE === 'none' && env[originsSettingOf(env)].length === 0,
  'JWT_REFRESH_COOKIE_MAX_AGE_MS is below JWT_REFRESH_EXPIRES_IN: browsers delete refresh tokens before they expire': (
    env,
  ) => env.JWT_REFRESH_COOKIE_MAX_AGE_MS < env.JWT_REFRESH_EXPIRES_IN,
  'JWT_REFRESH_COOKIE_SAME_SITE is strict: visitors who follow a link in a mail or of another site have to log in again once the cookie of ACCESS_COOKIE has expired':
    (env) => env.ACCESS_COOKIE && env.JWT_REFRESH_COOKIE_SAME_SITE === 'strict',
  'JWT_REFRESH_REPLAY_WINDOW is 0: with ACCESS_COOKIE, a visitor who leaves a page while it renews the session loses it. 10s is recommended':
    (env) => env.ACCESS_COOKIE && env.JWT_REFRESH_REPLAY_WINDOW === 0,
  'LOGIN_PAGE_URL is at another host than BASE_URL: its pages get no cookie of ACCESS_COOKIE without ACCESS_COOKIE_DOMAIN':
    (env) =>
      env.ACCESS_COOKIE &&
      env.ACCESS_COOKIE_DOMAIN === undefined &&
      new URL(env.LOGIN_PAGE_URL ?? baseUrlOf(env)).hostname !== new URL(baseUrlOf(env)).hostname,
  'PAGE_SERVERS is set, but the refresh cookie is not for all pages: JWT_REFRESH_COOKIE_PATH has to be /': (env) =>
    env.PAGE_SERVERS !== undefined && cookiePathOf(env) !== '/',
  'MAIL_URL has requireTLS=false: its password and the links in mail are sent unencrypted where the mail server offers no STARTTLS, or somebody on the way removes the offer':
    ({ MAIL_URL: mail }) => mail?.requireTls === false && mail.url.startsWith('smtp:') && !isLocalUrl(mail.url),
  'ADOPTION_PUBLIC_KEY is set: its private key opens sessions of every user who has the same password as at the start, until ADOPTION_ENDS':
    (env) => env.ADOPTION_PUBLIC_KEY !== undefined && (env.ADOPTION_ENDS ?? Infinity) > systemClock.now(),
  'ADOPTION_ENDS has passed: sessions are no longer adopted. Remove ADOPTION_PUBLIC_KEY': (env) =>
    env.ADOPTION_PUBLIC_KEY !== undefined && (env.ADOPTION_ENDS ?? Infinity) <= systemClock.now(),
  'NEW_DEVICE_CODE is on beside VERIFY_PASSWORDS_AT: a password is stored with the second log-in on a device. Set it to off until VERIFY_PASSWORDS_UNTIL':
    (env) => env.NEW_DEVICE_CODE !== 'off' && env.VERIFY_PASSWORDS_AT !== undefined,
  'VERIFY_PASSWORDS_UNTIL has passed: the former system is no longer asked. Remove VERIFY_PASSWORDS_AT': (env) =>
    env.VERIFY_PASSWORDS_AT !== undefined && (env.VERIFY_PASSWORDS_UNTIL ?? Infinity) <= systemClock.now(),
  'ACCOUNT_PAGES_URL is of an origin that is not allowed: its pages cannot call the service': (env) =>
    env.ACCOUNT_PAGES_URL !== undefined && !mayCall(env, env.ACCOUNT_PAGES_URL),
};

/** Settings that weaken the service, or are probably a mistake (ADR 0020). */
export const WARNINGS: Rules = { ...inProduction(IN_PRODUCTION), ...EVERYWHERE };

/** Warnings about DATABASE_URL. @param environment also has the variables that only the driver reads */
export const databaseWarnings = (environment: Env): Rules =>
  inProduction({
    'DATABASE_URL is unset: SQLite is for one machine': (env) => env.DATABASE_URL === undefined,
    'DATABASE_URL names a file: SQLite is for one machine': (env) => env.DATABASE_URL?.kind === 'sqlite',
    'DATABASE_URL does not require TLS with a verified certificate: an attacker on the network can read and change the data (use sslmode=verify-full)':
      ({ DATABASE_URL: url }) => url?.kind === 'postgresql' && isInsecure(new URL(url.url), environment.PGSSLMODE),
    'DATABASE_URL does not require TLS with a verified certificate: an attacker on the network can read and change the data (use ?ssl=true)':
      ({ DATABASE_URL: url }) =>
        (url?.kind === 'mariadb' || url?.kind === 'mysql') &&
        [url.url, ...(url.others ?? [])].some((each) => isExposed(hostOf(new URL(each)))) &&
        !new URL(url.url).searchParams.has('ssl'),
  });

/** Whether an attacker could read the traffic to PostgreSQL, or impersonate it. @param defaultMode PGSSLMODE, for a URL that does not configure TLS */
const isInsecure = (url: URL, defaultMode: string | undefined): boolean => {
  const parameter = (name: string) => url.searchParams.get(name) ?? undefined;
  const host = parameter('host') ?? hostOf(url);
  const mode = parameter('sslmode') ?? (parameter('ssl') === undefined ? defaultMode : undefined);
  if (mode === 'disable') return !isLoopback(host);
  const tls = parameter('sslcert') ?? parameter('sslkey') ?? parameter('sslrootcert') ?? mode;
  const isEncrypted = tls !== undefined || /^(?:true|1)$/.test(parameter('ssl') ?? '');
  const checksNothing =
    mode === 'no-verify' || (parameter('uselibpqcompat') === 'true' && (mode === 'prefer' || mode === 'require'));
  return isExposed(host) && (!isEncrypted || checksNothing);
};
