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

/** Without a trailing slash. */
export const adminUrlOf = ({ ADMIN_URL: url, ADMIN_PORT: port, ADMIN_HOST: host }: Values): string => {
  // A listener on all addresses is reached at localhost.
  const name = /^[0.:]+$/.test(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return url ?? `http://${name}:${port ?? ''}`;
};

/** `null`: there is no back office. */
const adminOf = ({ ADMIN_PORT: port, ADMIN_HOST: host, ...env }: Values) => {
  if (port === null) return null;
  const { ADMIN_IDENTITY_HEADER: identityHeader, ADMIN_PROXY_SECRET: secret } = env;
  return {
    ...{ host, port, keys: env.ADMIN_KEYS ?? [] },
    url: adminUrlOf({ ...env, ADMIN_PORT: port, ADMIN_HOST: host }),
    /** `null`: no proxy says who people are. */
    proxy: identityHeader === undefined || secret === undefined ? null : { identityHeader, secret },
  };
};

export const originsSettingOf = (env: Values) => (isProduction(env) ? 'ALLOWED_ORIGINS_PROD' : 'ALLOWED_ORIGINS_DEV');

const tracingOf = ({ OTEL_TRACES_SAMPLER: sampler, ...env }: Values) => {
  const ratio = sampler.endsWith('traceidratio') ? env.OTEL_TRACES_SAMPLER_ARG : Number(sampler.endsWith('always_on'));
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = null, OTEL_EXPORTER_OTLP_PROTOCOL: protocol } = env;
  return { endpoint, protocol, ratio, followsCaller: sampler.startsWith('parentbased_') };
};

/** The origin that Android sends for an app (WebAuthn Level 3 §5.8.1). */
const originsOfApp = (app: string): string[] => {
  const [, hex] = /^android:[^:]+:(.*)$/.exec(app) ?? [];
  return hex === undefined
    ? []
    : [`android:apk-key-hash:${Buffer.from(hex.replaceAll(':', ''), 'hex').toString('base64url')}`];
};

type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Words}`
  ? `${Lowercase<Word>}${Capitalize<CamelCase<Words>>}`
  : Lowercase<Name>;

/** SESSION_MAX_LIFETIME as `sessionMaxLifetime`, and so on. `null`: the variable is unset; its `meaning` says what happens then. */
const named = <Name extends VariableName>(env: Values, ...names: Name[]) => {
  const camelCase = (name: string) => name.toLowerCase().replace(/_./g, ([, letter = '']) => letter.toUpperCase());
  return Object.fromEntries(names.map((name) => [camelCase(name), env[name] ?? null])) as {
    readonly [N in Name as CamelCase<N>]: undefined extends Values[N] ? NonNullable<Values[N]> | null : Values[N];
  };
};

/** What the service needs from the variables. Times are in milliseconds. */
export const settingsOf = (env: Values) => {
  const allowedOriginsSetting = originsSettingOf(env);
  const allowedOrigins = env[allowedOriginsSetting];
  const ownOrigins = ownOriginsOf(env);
  const origins = [...ownOrigins, ...allowedOrigins, ...env.WEBAUTHN_ORIGINS, ...env.NATIVE_APPS.flatMap(originsOfApp)];
  const [baseUrl, loginPageUrl, mail] = [baseUrlOf(env), loginPageOf(env), mailOf(env)];
  const domain = hostOf(new URL(baseUrl));
  const { ADOPTION_PUBLIC_KEY: publicKey, VERIFY_PASSWORDS_AT: at } = env;
  return {
    ...named(env, 'NODE_ENV', 'WORKERS', 'HOST', 'PORT', 'TRUST_PROXY', 'REQUEST_TIMEOUT_MS', 'SHUTDOWN_DELAY'),
    ...named(env, 'LOG_LEVEL', 'SLOW_REQUEST_THRESHOLDS', 'METRICS', 'APP_LINKS', 'NATIVE_APPS', 'PASSKEYS_PAGE_URL'),
    ...named(env, 'DEFAULT_LOCALE', 'PAGE_TEMPLATES', 'DATA_DIR', 'REDIS_URL', 'MIGRATE_ON_START', 'PASSWORD_HASH'),
    ...named(env, 'BCRYPT_COST', 'PASSWORDS', 'LEAKED_PASSWORDS_FILE', 'LEAKED_PASSWORDS_URL', 'JWT_ISSUER'),
    ...named(env, 'JWT_AUDIENCE', 'JWT_REFRESH_EXPIRES_IN', 'JWT_REFRESH_REPLAY_WINDOW', 'JWT_AUTHENTICATION_CLAIMS'),
    ...named(env, 'JWT_SESSION_CLAIM', 'SESSION_MAX_LIFETIME', 'DEVICE_BINDING', 'NEW_DEVICE_CODE', 'SECOND_FACTOR'),
    ...named(env, 'FACTOR_KEYS', 'EVENTS_RETENTION', 'MAIL_TEMPLATES', 'HOOK_BEFORE_REGISTER', 'HOOK_PRIVATE_KEY'),
    ...named(env, 'WEBHOOK_ALLOWED_NETWORKS', 'CLEAR_SITE_DATA'),
    /** Has no trailing slash. */
    baseUrl,
    /** Serialized origins (RFC 6454 §6.2), of websites and of programs. */
    allowedOrigins,
    allowedOriginsSetting,
    /** The origins at which browsers open the pages of the service. */
    ownOrigins,
    allowedHeaders: [...new Set([...env.ALLOWED_HEADERS, ...(env.JWT_BINDING === 'on' ? ['DPoP'] : [])])],
    /** Where users go from the pages of the service: the first allowed origin of a website. */
    application: allowedOrigins.find((origin) => !isOfProgram(origin)) ?? null,
    webauthn: { rpId: env.WEBAUTHN_RP_ID ?? domain, origins: [...new Set(origins)] },
    /** Whether there is the page `/console`, for developers. */
    console: !isProduction(env),
    // The default names every tier.
    rateLimits: { ...rateLimits.parse(RATE_LIMITS[env.NODE_ENV]), ...env.RATE_LIMITS } as RateLimits,
    /** With an `endpoint` of `null`, no spans are recorded. */
    tracing: tracingOf(env),
    admin: adminOf(env),
    adminUsers: env.ADMIN_USERS ?? [],
    /** Where the pages lead operators; `null`: they do not log in here. */
    officeLink: env.ADMIN_USERS === undefined ? null : `${adminUrlOf(env)}/office/signed-in`,

    database: databaseOf(env),
    passwordLimits: { minLength: env.PASSWORD_MIN_LENGTH, maxBytes: PASSWORD_MAX_BYTES[env.PASSWORD_HASH] },
    /** The name of the product, its host, and the parts of it. */
    productWords: [env.BRAND_NAME ?? '', domain, ...domain.split('.')],
    passwordBlocklist: isProduction(env) ? ('common' as const) : ('off' as const),

    /** `null`: the service generates its own in `dataDir`. Never in production. */
    keys: keysOf(env),
    jwtAccessExpiresIn: accessLifetimeOf(env),
    jwtBinding: env.JWT_BINDING === 'on',
    jwtRefreshRaceWindow: raceWindowOf(env),
    /** `null`: no key of a browser, which needs https and a Secure cookie. */
    boundCookieLifetime: canBindBrowsers(env) ? 10 * MINUTE : null,
    refreshCookie: {
      ...(env.JWT_REFRESH_COOKIE_PREFIX !== undefined && { prefix: env.JWT_REFRESH_COOKIE_PREFIX }),
      path: cookiePathOf(env),
      sameSite: env.JWT_REFRESH_COOKIE_SAME_SITE,
      secure: env.JWT_REFRESH_COOKIE_SECURE,
      maxAge: env.JWT_REFRESH_COOKIE_MAX_AGE_MS,
    },
    /** `null`: access tokens are in responses alone. */
    accessCookie: env.ACCESS_COOKIE ? accessCookieOf(env) : null,
    /** For GET /auth/continue, which renews the session of a navigation. `null`: there is none. */
    navigation: env.ACCESS_COOKIE && loginPageUrl !== null ? { loginPageUrl, targetOrigins: pageOriginsOf(env) } : null,
    pageServers: env.PAGE_SERVERS ?? [],

    /** `null`: there is no mail. With a `url` of `null`, mail is written to files in `dataDir`. */
    mail,
    /** The pages of links in mail are below it. Has no trailing slash. */
    accountPagesUrl: env.ACCOUNT_PAGES_URL ?? `${baseUrl}/auth/link`,
    ownAccountPages: env.ACCOUNT_PAGES_URL === undefined,
    /** Whether people log in, register and change their account on pages of the service. */
    accountPages: hasUserPages(env),
    registration: { mode: env.REGISTRATION, domains: env.REGISTRATION_DOMAINS ?? [] },
    /** Where users type the code of a mail. */
    codePageUrl: hasUserPages(env)
      ? `${baseUrl}/auth/code`
      : (env.LOGIN_PAGE_URL ?? `${env.ACCOUNT_PAGES_URL ?? baseUrl}/login-code`),
    emailVerification: mail === null ? ('off' as const) : (env.EMAIL_VERIFICATION ?? ('optional' as const)),
    loginByCode: env.LOGIN_BY_CODE === 'on',
    mailNotices: new Set(env.MAIL_NOTICES),
    /** `null`: no session of a former system is adopted. `ends`: epoch milliseconds; `null`: never. */
    adoption: publicKey ? { publicKey, ends: env.ADOPTION_ENDS ?? null } : null,
    /** `null`: no former system is asked about passwords. `until`: epoch milliseconds; `null`: for ever. */
    verifyPasswords: at ? { at, until: env.VERIFY_PASSWORDS_UNTIL ?? null } : null,
    /** The colour is `#rrggbb`. */
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
      /** In pixels. */
      radius: env.BRAND_RADIUS,
      background: env.BRAND_BACKGROUND ?? null,
    },
  };
};

/** Outside production, a loopback address stands for all names of this machine. In production, `localhost` would be the visitor's machine. */
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

/** The origins that visitors may be sent to. Those of WEBAUTHN_ORIGINS may use passkeys and nothing else. */
export const pageOriginsOf = (env: Values): readonly string[] => [
  ...new Set([...ownOriginsOf(env), ...env[originsSettingOf(env)]]),
];

/** The time-outs are far below that of a request, so that the request can still report a failure. */
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

/** The pair of one kind of token, when both of its variables are set. */
export const configuredPair = (env: Values, kind: keyof typeof KEY_VARIABLES): KeyPair | null => {
  const [privateKey, publicKeys] = [env[KEY_VARIABLES[kind].privateKey], env[KEY_VARIABLES[kind].publicKeys]];
  return privateKey && publicKeys ? { privateKey, publicKeys } : null;
};

export const keysOf = (env: Values): TokenKeys | null => {
  const [access, refresh] = [configuredPair(env, 'access'), configuredPair(env, 'refresh')];
  return access && refresh && { access, refresh };
};

/** SPEC "Token scheme": 15 minutes, or the lifetime of the refresh token if that is shorter. */
const accessLifetimeOf = (env: Values) =>
  env.JWT_ACCESS_EXPIRES_IN ?? Math.min(15 * MINUTE, env.JWT_REFRESH_EXPIRES_IN);

export const raceWindowOf = (env: Values): number =>
  env.JWT_REFRESH_RACE_WINDOW ?? Math.min(10_000, Math.floor(env.JWT_REFRESH_EXPIRES_IN / 10));

const canBindBrowsers = (env: Values): boolean =>
  env.DEVICE_BINDING !== 'off' && env.JWT_REFRESH_COOKIE_SECURE && env.BASE_URL?.startsWith('https:') === true;

const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

/** The path of the routes below `/auth`, as a browser sees it. A proxy may strip the path of BASE_URL. */
const authPathOf = (env: Values): string => `${withSlash(new URL(baseUrlOf(env)).pathname)}auth`;

/** SPEC "Refresh cookie". */
export const cookiePathOf = (env: Values): string =>
  env.JWT_REFRESH_COOKIE_PATH ?? (env.JWT_REFRESH_COOKIE_PREFIX === '__Host-Http-' ? '/' : authPathOf(env));

/** Whether browsers send a cookie with its path to refresh and log-out (RFC 6265 §5.1.4). */
export const cookieCoversAuth = (env: Values) => withSlash(authPathOf(env)).startsWith(withSlash(cookiePathOf(env)));

/** Browsers let no page over http set a cookie with one of the prefixes, and no other host one with `__Host-` (RFC 6265bis §4.1.3). */
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
