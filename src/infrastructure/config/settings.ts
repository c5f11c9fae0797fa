import { join } from 'node:path';
import type { KeyPair, TokenKeys } from '../../adapters/crypto/token-keys.ts';
import type { AccessCookieSettings } from '../../adapters/http/request/settings.ts';
import type { DatabaseOptions } from '../../adapters/mikro-orm/options.ts';
import { hostOf } from '../../adapters/redis/url.ts';
import { PASSWORD_MAX_BYTES } from '../../domain/password.ts';
import { LOCAL_SENDER } from './account-variables.ts';
import { type RateLimits, rateLimits } from './formats.ts';
import { KEY_VARIABLES } from './keys.ts';
import { RATE_LIMITS } from './service-variables.ts';
import { isLoopback, isOfProgram } from './urls.ts';
import type { Values, VariableName } from './variables.ts';

const MINUTE = 60_000;

export const isProduction = (env: Values): boolean => env.NODE_ENV === 'production';
export const baseUrlOf = (env: Values): string => env.BASE_URL ?? `http://localhost:${env.PORT}`;

/** The URL of the back office, without a trailing slash. */
export const adminUrlOf = ({ ADMIN_URL: url, ADMIN_PORT: port, ADMIN_HOST: host }: Values): string => {
  // A back office that listens on all addresses (0.0.0.0 or ::) can be reached at localhost.
  const name = /^[0.:]+$/.test(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return url ?? `http://${name}:${port ?? ''}`;
};

const adminOf = ({ ADMIN_PORT: port, ADMIN_HOST: host, ...env }: Values) => {
  if (port === null) return null;
  const { ADMIN_IDENTITY_HEADER: identityHeader, ADMIN_PROXY_SECRET: secret } = env;
  return {
    ...{ host, port, keys: env.ADMIN_KEYS ?? [] },
    url: adminUrlOf({ ...env, ADMIN_PORT: port, ADMIN_HOST: host }),
    /** The header and the secret of a proxy that authenticates people; `null` if there is no such proxy. */
    proxy: identityHeader === undefined || secret === undefined ? null : { identityHeader, secret },
  };
};

export const originsSettingOf = (env: Values) => (isProduction(env) ? 'ALLOWED_ORIGINS_PROD' : 'ALLOWED_ORIGINS_DEV');

const tracingOf = ({ OTEL_TRACES_SAMPLER: sampler, ...env }: Values) => {
  const ratio = sampler.endsWith('traceidratio') ? env.OTEL_TRACES_SAMPLER_ARG : Number(sampler.endsWith('always_on'));
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = null, OTEL_EXPORTER_OTLP_PROTOCOL: protocol } = env;
  return { endpoint, protocol, ratio, followsCaller: sampler.startsWith('parentbased_') };
};

/** The origin that Android sends for an app in NATIVE_APPS (WebAuthn Level 3 §5.8.1). There is none for an app of Apple. */
const originsOfApp = (app: string): string[] => {
  const [, hex] = /^android:[^:]+:(.*)$/.exec(app) ?? [];
  return hex === undefined
    ? []
    : [`android:apk-key-hash:${Buffer.from(hex.replaceAll(':', ''), 'hex').toString('base64url')}`];
};

type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Words}`
  ? `${Lowercase<Word>}${Capitalize<CamelCase<Words>>}`
  : Lowercase<Name>;

/** Settings named after their variables, such as `sessionMaxLifetime` of SESSION_MAX_LIFETIME. Unset variables without a default are `null`. */
const pick = <Name extends VariableName>(env: Values, ...names: Name[]) => {
  const camelCase = (name: string) => name.toLowerCase().replace(/_./g, ([, letter = '']) => letter.toUpperCase());
  return Object.fromEntries(names.map((name) => [camelCase(name), env[name] ?? null])) as {
    readonly [N in Name as CamelCase<N>]: undefined extends Values[N] ? NonNullable<Values[N]> | null : Values[N];
  };
};

/** The settings of the service, from its variables. Durations are in milliseconds. */
export const settingsOf = (env: Values) => {
  const allowedOriginsSetting = originsSettingOf(env);
  const allowedOrigins = env[allowedOriginsSetting];
  const ownOrigins = ownOriginsOf(env);
  const origins = [...ownOrigins, ...allowedOrigins, ...env.WEBAUTHN_ORIGINS, ...env.NATIVE_APPS.flatMap(originsOfApp)];
  const [baseUrl, loginPageUrl, mail] = [baseUrlOf(env), loginPageOf(env), mailOf(env)];
  const domain = hostOf(new URL(baseUrl));
  const { ADOPTION_PUBLIC_KEY: publicKey, VERIFY_PASSWORDS_AT: at } = env;
  return {
    ...pick(env, 'NODE_ENV', 'WORKERS', 'HOST', 'PORT', 'TRUST_PROXY', 'REQUEST_TIMEOUT_MS', 'SHUTDOWN_DELAY'),
    ...pick(env, 'LOG_LEVEL', 'SLOW_REQUEST_THRESHOLDS', 'METRICS', 'APP_LINKS', 'NATIVE_APPS', 'PASSKEYS_PAGE_URL'),
    ...pick(env, 'DEFAULT_LOCALE', 'PAGE_TEMPLATES', 'DATA_DIR', 'REDIS_URL', 'MIGRATE_ON_START', 'PASSWORD_HASH'),
    ...pick(env, 'BCRYPT_COST', 'PASSWORDS', 'LEAKED_PASSWORDS_FILE', 'LEAKED_PASSWORDS_URL', 'JWT_ISSUER'),
    ...pick(env, 'JWT_AUDIENCE', 'JWT_REFRESH_EXPIRES_IN', 'JWT_REFRESH_REPLAY_WINDOW', 'JWT_AUTHENTICATION_CLAIMS'),
    ...pick(env, 'JWT_SESSION_CLAIM', 'SESSION_MAX_LIFETIME', 'DEVICE_BINDING', 'NEW_DEVICE_CODE', 'SECOND_FACTOR'),
    ...pick(env, 'FACTOR_KEYS', 'EVENTS_RETENTION', 'MAIL_TEMPLATES', 'HOOK_BEFORE_REGISTER', 'HOOK_PRIVATE_KEY'),
    ...pick(env, 'WEBHOOK_ALLOWED_NETWORKS', 'CLEAR_SITE_DATA', 'RESET_LINK_HAND_OVER'),
    /** Without a trailing slash. */
    baseUrl,
    /** Serialized origins (RFC 6454 §6.2) of websites, apps and extensions. */
    allowedOrigins,
    allowedOriginsSetting,
    ownOrigins,
    allowedHeaders: [...new Set([...env.ALLOWED_HEADERS, ...(env.JWT_BINDING === 'on' ? ['DPoP'] : [])])],
    /** The application to which the pages of the service lead by default: the first allowed origin of a website; `null` if there is none. */
    application: allowedOrigins.find((origin) => !isOfProgram(origin)) ?? null,
    webauthn: { rpId: env.WEBAUTHN_RP_ID ?? domain, origins: [...new Set(origins)] },
    console: !isProduction(env),
    // The cast: the default has all three tiers.
    rateLimits: { ...rateLimits.parse(RATE_LIMITS[env.NODE_ENV]), ...env.RATE_LIMITS } as RateLimits,
    /** If `endpoint` is `null`, no spans are recorded. */
    tracing: tracingOf(env),
    admin: adminOf(env),
    adminUsers: env.ADMIN_USERS ?? [],
    /** The URL to which the pages for log-in send operators; `null` without ADMIN_USERS. */
    officeLink: env.ADMIN_USERS === undefined ? null : `${adminUrlOf(env)}/office/signed-in`,

    database: databaseOf(env),
    passwordLimits: { minLength: env.PASSWORD_MIN_LENGTH, maxBytes: PASSWORD_MAX_BYTES[env.PASSWORD_HASH] },
    /** The name of the product, its host, and the labels of the host. With `passwordBlocklist`, no new password may be a variant of one of them. */
    productWords: [env.BRAND_NAME ?? '', domain, ...domain.split('.')],
    passwordBlocklist: isProduction(env) ? ('common' as const) : ('off' as const),

    /** `null` if no keys are set, which production refuses. */
    keys: keysOf(env),
    jwtAccessExpiresIn: accessLifetimeOf(env),
    jwtBinding: env.JWT_BINDING === 'on',
    jwtRefreshRaceWindow: raceWindowOf(env),
    /** Milliseconds after which a browser renews the cookie with its key; `null` if browsers keep no keys (`canBindBrowsers`). */
    boundCookieLifetime: canBindBrowsers(env) ? 10 * MINUTE : null,
    refreshCookie: {
      ...(env.JWT_REFRESH_COOKIE_PREFIX !== undefined && { prefix: env.JWT_REFRESH_COOKIE_PREFIX }),
      path: cookiePathOf(env),
      sameSite: env.JWT_REFRESH_COOKIE_SAME_SITE,
      secure: env.JWT_REFRESH_COOKIE_SECURE,
      maxAge: env.JWT_REFRESH_COOKIE_MAX_AGE_MS,
    },
    /** `null` if access tokens are only in the bodies of responses. */
    accessCookie: env.ACCESS_COOKIE ? accessCookieOf(env) : null,
    /** The settings of the route GET /auth/continue, which renews a session during a navigation; `null` without this route. */
    navigation: env.ACCESS_COOKIE && loginPageUrl !== null ? { loginPageUrl, targetOrigins: pageOriginsOf(env) } : null,
    pageServers: env.PAGE_SERVERS ?? [],

    /** `null` if the service sends no mail. If `url` is `null`, mail is written to files in `dataDir`. */
    mail,
    /** The URL below which the pages of links in mail are, without a trailing slash. */
    accountPagesUrl: env.ACCOUNT_PAGES_URL ?? `${baseUrl}/auth/link`,
    ownAccountPages: env.ACCOUNT_PAGES_URL === undefined,
    /** Whether the service has pages on which people log in, register and change their account. */
    accountPages: hasUserPages(env),
    registration: { mode: env.REGISTRATION, domains: env.REGISTRATION_DOMAINS ?? [] },
    codePageUrl: hasUserPages(env)
      ? `${baseUrl}/auth/code`
      : (env.LOGIN_PAGE_URL ?? `${env.ACCOUNT_PAGES_URL ?? baseUrl}/login-code`),
    emailVerification: mail === null ? ('off' as const) : (env.EMAIL_VERIFICATION ?? ('optional' as const)),
    loginByCode: env.LOGIN_BY_CODE === 'on',
    mailNotices: new Set(env.MAIL_NOTICES),
    /** `null` if sessions of a former system are not adopted. `ends`: epoch milliseconds, or `null` for no end. */
    adoption: publicKey ? { publicKey, ends: env.ADOPTION_ENDS ?? null } : null,
    /** The former system that is asked about passwords; `null` without one. `until`: epoch milliseconds, or `null` for no end. */
    verifyPasswords: at ? { at, until: env.VERIFY_PASSWORDS_UNTIL ?? null } : null,
    /** Colours have the form `#rrggbb`, and `radius` is in pixels. */
    brand: {
      name: env.BRAND_NAME ?? new URL(baseUrl).host,
      logoUrl: env.BRAND_LOGO_URL ?? null,
      logoDarkUrl: env.BRAND_LOGO_DARK_URL ?? null,
      iconUrl: env.BRAND_ICON_URL ?? null,
      termsUrl: env.BRAND_TERMS_URL ?? null,
      privacyUrl: env.BRAND_PRIVACY_URL ?? null,
      supportUrl: env.BRAND_SUPPORT_URL ?? null,
      color: env.BRAND_COLOR ?? null,
      font: env.BRAND_FONT ?? null,
      radius: env.BRAND_RADIUS,
      background: env.BRAND_BACKGROUND ?? null,
    },
  };
};

/** The origins of the service's pages; none in production without BASE_URL. Outside production, a loopback host stands for localhost, 127.0.0.1 and ::1. */
const ownOriginsOf = (env: Values): string[] => {
  if (isProduction(env) && env.BASE_URL === undefined) return [];
  const url = new URL(baseUrlOf(env));
  if (isProduction(env) || !isLoopback(hostOf(url))) return [url.origin];
  const names = ['localhost', '127.0.0.1', '[::1]'].map(
    (host) => new URL(`${url.protocol}//${host}:${url.port}`).origin,
  );
  return [...new Set([url.origin, ...names])];
};

export const hasUserPages = (env: Values): boolean =>
  (env.ACCOUNT_PAGES ?? (isProduction(env) ? 'off' : 'on')) === 'on';

export const loginPageOf = (env: Values): string | null =>
  env.LOGIN_PAGE_URL ?? (hasUserPages(env) ? `${baseUrlOf(env)}/auth/log-in` : null);

export const pageOriginsOf = (env: Values): readonly string[] => [
  ...new Set([...ownOriginsOf(env), ...env[originsSettingOf(env)]]),
];

/** The database. Time-outs of a database server are below that of a request, so that the request can still report a failure. */
const databaseOf = (env: Values): DatabaseOptions => {
  const { DATABASE_URL: url, DATABASE_TABLE_PREFIX: tablePrefix } = env;
  if (url === undefined)
    return { kind: 'sqlite', path: join(env.DATA_DIR, 'database.sqlite'), synchronous: 'normal', tablePrefix };
  if (url.kind === 'sqlite') return { ...url, tablePrefix };
  const share = (part: number) => Math.max(1, Math.floor(env.REQUEST_TIMEOUT_MS / part));
  return {
    ...url,
    poolSize: env.DATABASE_POOL_SIZE,
    connectionTimeout: share(10),
    statementTimeout: share(6),
    idleTimeout: share(3),
    tablePrefix,
  };
};

export const configuredPair = (env: Values, kind: keyof typeof KEY_VARIABLES): KeyPair | null => {
  const [privateKey, publicKeys] = [env[KEY_VARIABLES[kind].privateKey], env[KEY_VARIABLES[kind].publicKeys]];
  return privateKey && publicKeys ? { privateKey, publicKeys } : null;
};

export const keysOf = (env: Values): TokenKeys | null => {
  const [access, refresh] = [configuredPair(env, 'access'), configuredPair(env, 'refresh')];
  return access && refresh && { access, refresh };
};

/** By default (SPEC "Token scheme") 15 minutes, or the lifetime of the refresh token if that is shorter. */
const accessLifetimeOf = (env: Values) =>
  env.JWT_ACCESS_EXPIRES_IN ?? Math.min(15 * MINUTE, env.JWT_REFRESH_EXPIRES_IN);

export const raceWindowOf = (env: Values): number =>
  env.JWT_REFRESH_RACE_WINDOW ?? Math.min(10_000, Math.floor(env.JWT_REFRESH_EXPIRES_IN / 10));

const canBindBrowsers = (env: Values): boolean =>
  env.DEVICE_BINDING !== 'off' && env.JWT_REFRESH_COOKIE_SECURE && env.BASE_URL?.startsWith('https:') === true;

const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

/** The path `/auth` as browsers see it: below the path of BASE_URL, which a proxy may strip. */
const authPathOf = (env: Values): string => `${withSlash(new URL(baseUrlOf(env)).pathname)}auth`;

/** The Path of the refresh cookie (SPEC "Refresh cookie"). */
export const cookiePathOf = (env: Values): string =>
  env.JWT_REFRESH_COOKIE_PATH ?? (env.JWT_REFRESH_COOKIE_PREFIX === '__Host-Http-' ? '/' : authPathOf(env));

/** Whether browsers send the refresh cookie, with its path, to the routes of refresh and log-out (RFC 6265 §5.1.4). */
export const cookieCoversAuth = (env: Values) => withSlash(authPathOf(env)).startsWith(withSlash(cookiePathOf(env)));

/** The cookie of the access token. A prefix needs the attribute Secure, and `__Host-` a cookie without a domain (RFC 6265bis §4.1.3). */
const accessCookieOf = (env: Values): AccessCookieSettings => {
  const { ACCESS_COOKIE_DOMAIN: domain, JWT_REFRESH_COOKIE_SECURE: secure } = env;
  const prefix = domain === undefined ? '__Host-' : '__Secure-';
  return {
    name: `${secure ? prefix : ''}access_token`,
    path: '/',
    sameSite: 'lax',
    secure,
    maxAge: accessLifetimeOf(env),
    ...(domain !== undefined && { domain }),
  };
};

const mailOf = ({ NODE_ENV, MAIL_URL, MAIL_OAUTH, MAIL_FROM: from = LOCAL_SENDER }: Values) => {
  const oauth = MAIL_OAUTH ?? null;
  if (MAIL_URL !== undefined) return { ...MAIL_URL, from, oauth };
  return NODE_ENV === 'production' ? null : { url: null, from, requireTls: false, oauth };
};
