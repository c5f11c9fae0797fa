import { join } from 'node:path';
import type { KeyPair, TokenKeys } from '../../adapters/crypto/token-keys.ts';
import type { AccessCookieSettings } from '../../adapters/http/request/settings.ts';
import type { DatabaseOptions } from '../../adapters/mikro-orm/options.ts';
import { hostOf } from '../../adapters/redis/url.ts';
import { PASSWORD_MAX_BYTES } from '../../domain/password.ts';
import { LOCAL_SENDER } from './account-variables.ts';
import { type RateLimits, rateLimits } from './forms.ts';
import { KEY_VARIABLES } from './keys.ts';
import { RATE_LIMITS } from './service-variables.ts';
import { isLoopback, isOfProgram } from './urls.ts';
import type { Values } from './variables.ts';

const MINUTE = 60_000;

export const isProduction = (of: Values): boolean => of.NODE_ENV === 'production';
export const baseUrlOf = (of: Values): string => of.BASE_URL ?? `http://localhost:${of.PORT}`;

/** Without a trailing slash. */
export const adminUrlOf = ({ ADMIN_URL: url, ADMIN_PORT: port, ADMIN_HOST: host }: Values): string => {
  // A listener on all addresses is reached at localhost.
  const name = /^[0.:]+$/.test(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return url ?? `http://${name}:${port ?? ''}`;
};

/** `null`: there is no back office. */
const adminOf = ({ ADMIN_PORT: port, ADMIN_HOST: host, ...of }: Values) => {
  if (port === null) return null;
  const { ADMIN_IDENTITY_HEADER: identityHeader, ADMIN_PROXY_SECRET: secret } = of;
  return {
    ...{ host, port, keys: of.ADMIN_KEYS ?? [] },
    url: adminUrlOf({ ...of, ADMIN_PORT: port, ADMIN_HOST: host }),
    /** `null`: no proxy says who people are. */
    proxy: identityHeader === undefined || secret === undefined ? null : { identityHeader, secret },
  };
};

export const originsSettingOf = (of: Values) => (isProduction(of) ? 'ALLOWED_ORIGINS_PROD' : 'ALLOWED_ORIGINS_DEV');

const tracingOf = ({ OTEL_TRACES_SAMPLER: sampler, ...of }: Values) => {
  const ratio = sampler.endsWith('traceidratio') ? of.OTEL_TRACES_SAMPLER_ARG : Number(sampler.endsWith('always_on'));
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = null, OTEL_EXPORTER_OTLP_PROTOCOL: protocol } = of;
  return { endpoint, protocol, ratio, followsCaller: sampler.startsWith('parentbased_') };
};

/** The origin that Android sends for an app (WebAuthn Level 3 §5.8.1). */
const originsOfApp = (app: string): string[] => {
  const [, hex] = /^android:[^:]+:(.*)$/.exec(app) ?? [];
  return hex === undefined
    ? []
    : [`android:apk-key-hash:${Buffer.from(hex.replaceAll(':', ''), 'hex').toString('base64url')}`];
};

/** What the service needs from the variables. Times are in milliseconds. */
export const settingsOf = (of: Values) => {
  const allowedOriginsSetting = originsSettingOf(of);
  const allowedOrigins = of[allowedOriginsSetting];
  const ownOrigins = ownOriginsOf(of);
  const loginPageUrl = loginPageOf(of);
  const mail = mailOf(of);
  return {
    environment: of.NODE_ENV,
    workers: of.WORKERS,
    host: of.HOST,
    /** 0 is any free port. */
    port: of.PORT,
    /** Has no trailing slash. */
    baseUrl: baseUrlOf(of),
    /** Serialized origins (RFC 6454 §6.2), of websites and of programs. */
    allowedOrigins,
    allowedOriginsSetting,
    /** The origins at which browsers open the pages of the service. */
    ownOrigins,
    appLinks: of.APP_LINKS,
    nativeApps: of.NATIVE_APPS,
    allowedHeaders: [...new Set([...of.ALLOWED_HEADERS, ...(of.JWT_BINDING === 'on' ? ['DPoP'] : [])])],
    /** Where users go from the pages of the service: the first allowed origin of a website. */
    application: allowedOrigins.find((origin) => !isOfProgram(origin)) ?? null,
    passkeysPageUrl: of.PASSKEYS_PAGE_URL ?? null,
    webauthn: {
      rpId: of.WEBAUTHN_RP_ID ?? hostOf(new URL(baseUrlOf(of))),
      origins: [
        ...new Set([...ownOrigins, ...allowedOrigins, ...of.WEBAUTHN_ORIGINS, ...of.NATIVE_APPS.flatMap(originsOfApp)]),
      ],
    },
    /** Whether there is the page `/console`, for developers. */
    console: !isProduction(of),
    trustProxy: of.TRUST_PROXY,
    requestTimeout: of.REQUEST_TIMEOUT_MS,
    shutdownDelay: of.SHUTDOWN_DELAY,
    slowRequest: of.SLOW_REQUEST_THRESHOLDS,
    // The default names every tier.
    rateLimits: { ...rateLimits.parse(RATE_LIMITS[of.NODE_ENV]), ...of.RATE_LIMITS } as RateLimits,
    logLevel: of.LOG_LEVEL,
    metrics: of.METRICS,
    /** With an `endpoint` of `null`, no spans are recorded. */
    tracing: tracingOf(of),
    admin: adminOf(of),
    operators: of.ADMIN_USERS ?? [],
    /** Where the pages lead operators; `null`: they do not log in here. */
    officeLink: of.ADMIN_USERS === undefined ? null : `${adminUrlOf(of)}/office/signed-in`,

    database: databaseOf(of),
    dataDir: of.DATA_DIR,
    migrateOnStart: of.MIGRATE_ON_START,
    /** One URL is a server or a node of a cluster, several are nodes or sentinels. Empty: no Redis. */
    redisUrls: of.REDIS_URL ?? [],
    passwordHash: of.PASSWORD_HASH,
    passwordLimits: { minLength: of.PASSWORD_MIN_LENGTH, maxBytes: PASSWORD_MAX_BYTES[of.PASSWORD_HASH] },
    leakedPasswordsFile: of.LEAKED_PASSWORDS_FILE ?? null,
    leakedPasswordsUrl: of.LEAKED_PASSWORDS_URL ?? null,
    /** The name of the product, its host, and the parts of it. */
    productWords: [of.BRAND_NAME ?? '', hostOf(new URL(baseUrlOf(of))), ...hostOf(new URL(baseUrlOf(of))).split('.')],
    bcryptCost: of.BCRYPT_COST,
    passwordBlocklist: isProduction(of) ? ('common' as const) : ('off' as const),

    /** `null`: the service generates its own in `dataDir`. Never in production. */
    keys: keysOf(of),
    /** The `iss` and the `aud` of both tokens. */
    issuer: of.JWT_ISSUER ?? null,
    audience: of.JWT_AUDIENCE ?? null,
    accessLifetime: accessLifetimeOf(of),
    refreshLifetime: of.JWT_REFRESH_EXPIRES_IN,
    /** `null`: sessions may be renewed for ever. */
    sessionMaxLifetime: of.SESSION_MAX_LIFETIME,
    authenticationClaims: of.JWT_AUTHENTICATION_CLAIMS,
    sessionClaim: of.JWT_SESSION_CLAIM,
    tokenBinding: of.JWT_BINDING === 'on',
    raceWindow: raceWindowOf(of),
    replayWindow: of.JWT_REFRESH_REPLAY_WINDOW,
    deviceBinding: of.DEVICE_BINDING,
    /** `null`: no key of a browser, which needs https and a Secure cookie. */
    boundCookieLifetime: canBindBrowsers(of) ? 10 * MINUTE : null,
    refreshCookie: {
      ...(of.JWT_REFRESH_COOKIE_PREFIX !== undefined && { prefix: of.JWT_REFRESH_COOKIE_PREFIX }),
      path: cookiePathOf(of),
      sameSite: of.JWT_REFRESH_COOKIE_SAME_SITE,
      secure: of.JWT_REFRESH_COOKIE_SECURE,
      maxAge: of.JWT_REFRESH_COOKIE_MAX_AGE_MS,
    },
    /** `null`: access tokens are in responses alone. */
    accessCookie: of.ACCESS_COOKIE ? accessCookieOf(of) : null,
    /** For GET /auth/continue, which renews the session of a navigation. `null`: there is none. */
    navigation: of.ACCESS_COOKIE && loginPageUrl !== null ? { loginPageUrl, targetOrigins: pageOriginsOf(of) } : null,
    pageServers: of.PAGE_SERVERS ?? [],

    /** `null`: there is no mail. With a `url` of `null`, mail is written to files in `dataDir`. */
    mail,
    /** The pages of links in mail are below it. Has no trailing slash. */
    accountPagesUrl: of.ACCOUNT_PAGES_URL ?? `${baseUrlOf(of)}/auth/link`,
    ownAccountPages: of.ACCOUNT_PAGES_URL === undefined,
    /** Whether people log in, register and change their account on pages of the service. */
    userPages: hasUserPages(of),
    registration: { mode: of.REGISTRATION, domains: of.REGISTRATION_DOMAINS ?? [] },
    /** Where users type the code of a mail. */
    codePageUrl: hasUserPages(of)
      ? `${baseUrlOf(of)}/auth/code`
      : (of.LOGIN_PAGE_URL ?? `${of.ACCOUNT_PAGES_URL ?? baseUrlOf(of)}/login-code`),
    /** `null`: no URL decides about registrations. */
    hookBeforeRegister: of.HOOK_BEFORE_REGISTER ?? null,
    /** `null`: the service generates its own in `dataDir`. */
    hookPrivateKey: of.HOOK_PRIVATE_KEY ?? null,
    webhookAllowedNetworks: of.WEBHOOK_ALLOWED_NETWORKS,
    emailVerification: mail === null ? ('off' as const) : (of.EMAIL_VERIFICATION ?? ('optional' as const)),
    loginByCode: of.LOGIN_BY_CODE === 'on',
    newDeviceCode: of.NEW_DEVICE_CODE,
    passwords: of.PASSWORDS,
    notices: new Set(of.MAIL_NOTICES),
    secondFactor: of.SECOND_FACTOR,
    /** `null`: the service generates its own in `dataDir`, or in production has no authenticator apps. */
    factorKeys: of.FACTOR_KEYS ?? null,
    /** `null`: no session of a former system is adopted. `endsAt`: epoch milliseconds; `null`: never. */
    adoption: of.ADOPTION_PUBLIC_KEY ? { publicKeys: of.ADOPTION_PUBLIC_KEY, endsAt: of.ADOPTION_ENDS ?? null } : null,
    /** `null`: no former system is asked about passwords. `until`: epoch milliseconds; `null`: for ever. */
    verifyPasswords: of.VERIFY_PASSWORDS_AT
      ? { url: of.VERIFY_PASSWORDS_AT, until: of.VERIFY_PASSWORDS_UNTIL ?? null }
      : null,
    eventsRetention: of.EVENTS_RETENTION,
    /** The colour is `#rrggbb`. */
    brand: {
      name: of.BRAND_NAME ?? new URL(baseUrlOf(of)).host,
      logoUrl: of.BRAND_LOGO_URL ?? null,
      darkLogoUrl: of.BRAND_LOGO_DARK_URL ?? null,
      iconUrl: of.BRAND_ICON_URL ?? null,
      termsUrl: of.BRAND_TERMS_URL ?? null,
      privacyUrl: of.BRAND_PRIVACY_URL ?? null,
      supportUrl: of.BRAND_SUPPORT_URL ?? null,
      color: of.BRAND_COLOR ?? null,
      font: of.BRAND_FONT ?? null,
      /** In pixels. */
      radius: of.BRAND_RADIUS,
      background: of.BRAND_BACKGROUND ?? null,
    },
    defaultLocale: of.DEFAULT_LOCALE,
    /** A directory; `null`: only the built-in templates. */
    mailTemplates: of.MAIL_TEMPLATES ?? null,
    /** The same for the pages for users. */
    pageTemplates: of.PAGE_TEMPLATES ?? null,
  };
};

/** Outside production, a loopback address stands for all names of this machine. In production, `localhost` would be the visitor's machine. */
const ownOriginsOf = (of: Values): string[] => {
  if (isProduction(of) && of.BASE_URL === undefined) return [];
  const url = new URL(baseUrlOf(of));
  if (isProduction(of) || !isLoopback(hostOf(url))) return [url.origin];
  const names = ['localhost', '127.0.0.1', '[::1]'].map(
    (host) => new URL(`${url.protocol}//${host}:${url.port}`).origin,
  );
  return [...new Set([url.origin, ...names])];
};

export const hasUserPages = (of: Values): boolean => (of.ACCOUNT_PAGES ?? (isProduction(of) ? 'off' : 'on')) === 'on';

export const loginPageOf = (of: Values): string | null =>
  of.LOGIN_PAGE_URL ?? (hasUserPages(of) ? `${baseUrlOf(of)}/auth/log-in` : null);

/** The origins that visitors may be sent to. Those of WEBAUTHN_ORIGINS may use passkeys and nothing else. */
export const pageOriginsOf = (of: Values): readonly string[] => [
  ...new Set([...ownOriginsOf(of), ...of[originsSettingOf(of)]]),
];

/** The time-outs are far below that of a request, so that the request can still report a failure. */
const databaseOf = (of: Values): DatabaseOptions => {
  const { DATABASE_URL: url, DATABASE_TABLE_PREFIX: tablePrefix } = of;
  if (url === undefined)
    return { kind: 'sqlite', path: join(of.DATA_DIR, 'database.sqlite'), synchronous: 'normal', tablePrefix };
  if (url.kind === 'sqlite') return { ...url, tablePrefix };
  const share = (part: number) => Math.max(1, Math.floor(of.REQUEST_TIMEOUT_MS / part));
  return {
    ...url,
    poolSize: of.DATABASE_POOL_SIZE,
    connectionTimeout: share(10),
    statementTimeout: share(6),
    idleTimeout: share(3),
    tablePrefix,
  };
};

/** The pair of one kind of token, when both of its variables are set. */
export const pairOf = (of: Values, kind: keyof typeof KEY_VARIABLES): KeyPair | null => {
  const [privateKey, publicKeys] = [of[KEY_VARIABLES[kind].privateKey], of[KEY_VARIABLES[kind].publicKeys]];
  return privateKey && publicKeys ? { privateKey, publicKeys } : null;
};

export const keysOf = (of: Values): TokenKeys | null => {
  const [access, refresh] = [pairOf(of, 'access'), pairOf(of, 'refresh')];
  return access && refresh && { access, refresh };
};

/** SPEC "Token scheme": 15 minutes, or the lifetime of the refresh token if that is shorter. */
const accessLifetimeOf = (of: Values) => of.JWT_ACCESS_EXPIRES_IN ?? Math.min(15 * MINUTE, of.JWT_REFRESH_EXPIRES_IN);

export const raceWindowOf = (of: Values): number =>
  of.JWT_REFRESH_RACE_WINDOW ?? Math.min(10_000, Math.floor(of.JWT_REFRESH_EXPIRES_IN / 10));

const canBindBrowsers = (of: Values): boolean =>
  of.DEVICE_BINDING !== 'off' && of.JWT_REFRESH_COOKIE_SECURE && of.BASE_URL?.startsWith('https:') === true;

const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

/** The path of the routes below `/auth`, as a browser sees it. A proxy may strip the path of BASE_URL. */
const authPathOf = (of: Values): string => `${withSlash(new URL(baseUrlOf(of)).pathname)}auth`;

/** SPEC "Refresh cookie". */
export const cookiePathOf = (of: Values): string =>
  of.JWT_REFRESH_COOKIE_PATH ?? (of.JWT_REFRESH_COOKIE_PREFIX === '__Host-Http-' ? '/' : authPathOf(of));

/** Whether browsers send a cookie with its path to refresh and log-out (RFC 6265 §5.1.4). */
export const cookieCoversAuth = (of: Values) => withSlash(authPathOf(of)).startsWith(withSlash(cookiePathOf(of)));

/** Browsers let no other host, and no page over http, set a cookie with one of the prefixes (RFC 6265bis §4.1.3). */
const accessCookieOf = (of: Values): AccessCookieSettings => {
  const { ACCESS_COOKIE_DOMAIN: domain, JWT_REFRESH_COOKIE_SECURE: secure } = of;
  const prefix = domain === undefined ? '__Host-' : '__Secure-';
  return {
    name: `${secure ? prefix : ''}access_token`,
    path: '/',
    sameSite: 'lax',
    secure,
    maxAge: accessLifetimeOf(of),
    ...(domain !== undefined && { domain }),
  };
};

const mailOf = ({ NODE_ENV, MAIL_URL, MAIL_OAUTH, MAIL_FROM: from = LOCAL_SENDER }: Values) => {
  const oauth = MAIL_OAUTH ?? null;
  if (MAIL_URL !== undefined) return { ...MAIL_URL, from, oauth };
  return NODE_ENV === 'production' ? null : { url: null, from, requireTls: false, oauth };
};
