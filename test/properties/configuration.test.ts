// Proves operator-4
import { type KeyObject, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONFIG_VARIABLES, type Config, ConfigError, parseConfig } from '../../src/infrastructure/config.ts';
import { ACCEPTED } from '../support/config-forms.ts';
import { PRODUCTION } from '../support/processes/environments.ts';
import { anyText } from '../support/properties/arbitraries.ts';
import { holds } from '../support/properties/properties.ts';

/*
 * Valid, nearly valid and invalid environments. Each run prints the seeds of its properties;
 * `FC_SEED=<seed> vitest run test/properties/configuration.test.ts` repeats it.
 */

/** Part of every invalid value: no message may contain it. */
const MARKER = `m4rk${randomBytes(4).toString('hex')}`;

const NAMES: string[] = CONFIG_VARIABLES.map(({ name }) => name);

/** Values that are valid for a variable, at least in combination with certain others. */
const fittingOf = (name: string): readonly string[] => {
  const key = name.endsWith('_KEY') ? PRODUCTION[name] : undefined;
  if (key !== undefined) return [key, key.replaceAll('\n', '\\n'), key + key];
  const texts = ACCEPTED.filter(([accepted]) => accepted === name).map(([, text]) => text);
  return [...texts, 'true', '5m', '__Http-'];
};

/** The same text with a part removed, doubled, or replaced by a text with the marker. */
const mutated = (texts: readonly string[], piece: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom(...texts), fc.nat(), fc.nat({ max: 8 }), piece).map(([text, at, length, other]) => {
    const start = at % (text.length + 1);
    return `${text.slice(0, start)}${other}${text.slice(start + length)}`;
  });

const marked = anyText.map((text) => `${text}${MARKER}${text}`);
const piece = fc.oneof(marked, fc.constantFrom(...'| |\0|\n|-|%|%zz|/|//|:|@|,|*|0|1|99999|é|"|{|\\n'.split('|')));

const textOf = (name: string): fc.Arbitrary<string | undefined> =>
  fc.oneof(
    { arbitrary: fc.constantFrom(...fittingOf(name)), weight: 12 },
    { arbitrary: mutated(fittingOf(name), piece), weight: 2 },
    { arbitrary: marked, weight: 1 },
    { arbitrary: fc.constantFrom(undefined, ''), weight: 4 },
  );

/** Few variables are set, so that an environment is often valid. */
const environment = fc
  .tuple(
    fc
      .subarray(NAMES, { maxLength: 8 })
      .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, textOf(name)])))),
    fc.constantFrom({}, {}, PRODUCTION),
    fc.dictionary(fc.constantFrom('__proto__', 'constructor', 'PATH', 'port', 'JWT_SECRET'), marked, { maxKeys: 2 }),
  )
  .map(([given, production, others]): Record<string, string | undefined> => ({ ...others, ...production, ...given }));

type Env = Readonly<Record<string, string | undefined>>;

/** The configuration, or its error; any other error fails the property. */
const parsed = (env: Env): Config | ConfigError => {
  try {
    return parseConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
};

const isWhole = (value: number, min: number, max: number) =>
  Number.isSafeInteger(value) && value >= min && value <= max;
const TEN_YEARS = 315_360_000_000;
const MAX_TIMER = 2 ** 31 - 1;

const isHttpUrl = (text: string): boolean =>
  /^https?:\/\/[^?#*\s/@]+(?:\/[^?#*\s]*[^?#*\s/])?$/.test(text) && URL.canParse(text);
const isDecodable = (url: string): boolean => {
  try {
    return decodeURIComponent(url) !== '';
  } catch {
    return false;
  }
};
const isP256 = (key: KeyObject) => key.asymmetricKeyDetails?.namedCurve === 'prime256v1';

/** The promises of `Config` beyond its types. @returns the names of those that are broken. */
const brokenPromises = (config: Config): string[] => {
  const { database, keys, mail, rateLimits, refreshCookie: cookie, slowRequest, requestTimeout } = config;
  const timeouts =
    database.kind !== 'sqlite' ? [database.connectionTimeout, database.statementTimeout, database.idleTimeout] : [];
  const pairs = keys === null ? [] : [keys.access, keys.refresh];
  const production = config.environment === 'production';
  const promises: Readonly<Record<string, boolean>> = {
    port: isWhole(config.port, 0, 65_535),
    host: config.host !== '' && !/\s/.test(config.host),
    baseUrl: isHttpUrl(config.baseUrl),
    // They become part of headers.
    allowedOrigins: config.allowedOrigins.every((origin) => /^[a-z][a-z\d+.-]*:\/\/[a-z\d._:[\]-]+$/.test(origin)),
    ownOrigins: config.ownOrigins.every((origin) => new URL(origin).origin === origin),
    trustProxy: isWhole(config.trustProxy, 0, 100),
    requestTimeout: isWhole(requestTimeout, 1, MAX_TIMER),
    slowRequest: isWhole(slowRequest.warn, 0, slowRequest.error) && Number.isSafeInteger(slowRequest.error),
    rateLimits: Object.values(rateLimits).every(
      (limit) => limit === null || (isWhole(limit.requests, 1, 1e9) && isWhole(limit.window, 1_000, 86_400_000)),
    ),
    timeouts: timeouts.every((timeout) => isWhole(timeout, 1, Math.max(1, requestTimeout - 1))),
    refreshLifetime: isWhole(config.refreshLifetime, 1_000, TEN_YEARS),
    accessLifetime: isWhole(config.accessLifetime, 1_000, config.refreshLifetime),
    raceWindow: isWhole(config.raceWindow, 0, Math.min(300_000, config.refreshLifetime / 10)),
    replayWindow: isWhole(config.replayWindow, 0, config.raceWindow),
    redisUrls: config.redisUrls.every(
      (url) => /^rediss?(?:\+sentinel)?:/.test(url) && URL.canParse(url) && isDecodable(url),
    ),
    database: database.kind === 'sqlite' ? database.path !== '' : isDecodable(database.url),
    metrics:
      config.metrics === null || (isWhole(config.metrics.port, 1, 65_535) && config.metrics.port !== config.port),
    cookiePath: cookie.path.startsWith('/') && !/[;,\s]/.test(cookie.path),
    cookieIsSent: !production || `${new URL(`${config.baseUrl}/auth`).pathname}/`.startsWith(cookie.path),
    cookieMaxAge: isWhole(cookie.maxAge, 1_000, TEN_YEARS),
    cookieSecure: cookie.secure || (!production && cookie.sameSite !== 'none'),
    bcryptCost: isWhole(config.bcryptCost, production ? 10 : 4, 15),
    dataDir: !config.dataDir.includes('\0'),
    production: !production || keys !== null,
    keys: pairs.every(
      ({ privateKey, publicKeys }) => publicKeys.length > 0 && [privateKey, ...publicKeys].every(isP256),
    ),
    mailUrl: mail === null || mail.url === null || (/^smtps?:/.test(mail.url) && isDecodable(mail.url)),
    mailFrom: mail === null || /^(?:[^\p{Cc}\p{Cs}<>,"]+ <[^\s<>]+@[^\s<>]+>|[^\s<>]+@[^\s<>]+)$/u.test(mail.from),
    mailInProduction: !production || mail === null || mail.url !== null,
    mailSomewhere: production || mail !== null,
    accountPagesUrl: isHttpUrl(config.accountPagesUrl),
    ownAccountPages: !config.ownAccountPages || config.accountPagesUrl === `${config.baseUrl}/auth/link`,
    emailVerification: config.emailVerification === 'off' || mail !== null,
    eventsRetention: isWhole(config.eventsRetention, 1_000, TEN_YEARS),
    warnings: [...config.warnings, ...config.databaseWarnings].every((warning) => !warning.includes(MARKER)),
  };
  return Object.keys(promises).filter((name) => !promises[name]);
};

/** The problems that do not begin with a variable of the service or of a provider, or contain the marker or part of a key. */
const tellingTooMuch = (problems: readonly string[], env: Env): string[] => {
  const secrets = [
    MARKER,
    ...Object.values(env).flatMap((text) => (text?.includes('KEY-') ? (text.match(/[\w+/=]{16,}/g) ?? []) : [])),
  ];
  return problems.filter((problem) => {
    const [name = ''] = problem.split(': ');
    const isVariable = NAMES.includes(name) || /^OIDC_[A-Z\d_]+$/.test(name);
    return !isVariable || secrets.some((secret) => problem.includes(secret));
  });
};

describe('any environment', () => {
  it('gives a configuration that keeps its promises, or names the variables at fault and nothing of their values', async () => {
    const outcomes = new Map<string, number>();
    await holds(
      fc.property(environment, (env) => {
        const outcome = parsed(env);
        outcomes.set(outcome.constructor.name, (outcomes.get(outcome.constructor.name) ?? 0) + 1);
        if (outcome instanceof ConfigError) {
          expect(outcome.problems.length).toBeGreaterThan(0);
          expect(tellingTooMuch(outcome.problems, env)).toEqual([]);
          expect(outcome.message).toBe(['The configuration is invalid.', ...outcome.problems].join('\n'));
        } else expect(brokenPromises(outcome)).toEqual([]);
      }),
      { numRuns: 5_000 },
    );
    expect(Math.min(...outcomes.values())).toBeGreaterThan(500);
    expect(outcomes.size).toBe(2);
  });

  // Quadratic or worse time for 100,000 characters would exceed the time-out of the test.
  it('is read in linear time, however long its values are', async () => {
    const partOf = (name: string) =>
      fc
        .tuple(fc.constantFrom(...fittingOf(name)), fc.nat(), fc.integer({ min: 1, max: 8 }))
        .map(([text, at, length]) => text.slice(at % text.length).slice(0, length));
    const longText = (name: string) =>
      fc
        .tuple(
          fc.constantFrom('', ...fittingOf(name)),
          fc.oneof(partOf(name), partOf(name), piece),
          fc.oneof(partOf(name), fc.constantFrom('', ' ', '-', 'x')),
        )
        .map(([before, repeated, after]) => `${before}${repeated.repeat(1e5 / (repeated.length || 1))}${after}`);
    const long = fc
      .constantFrom(...NAMES)
      .chain((name) => fc.record({ name: fc.constant(name), text: longText(name) }));
    await holds(
      fc.property(long, fc.constantFrom({}, PRODUCTION), ({ name, text }, others) => {
        const env = { ...others, [name]: text };
        const outcome = parsed(env);
        if (outcome instanceof ConfigError) expect(tellingTooMuch(outcome.problems, env)).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  });
});
