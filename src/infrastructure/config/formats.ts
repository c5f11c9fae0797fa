import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import * as v from 'valibot';
import { type OperatorRule, SCOPES } from '../../domain/operator.ts';

export type Format<T> = {
  /** Completes the message "expected …". The message never quotes the value, which may be a secret. */
  readonly expected: string;
  /** @returns the value; `undefined` if the text is refused */
  readonly parse: (text: string) => T | undefined;
};

export type Variable = {
  readonly format: Format<unknown>;
  /** Whether the value is hidden, and may also come from a file that `<name>_FILE` names, since Docker and Kubernetes mount secrets as files. */
  readonly secret?: true;
  readonly default?: string | PerEnvironment;
  /** The text that the documentation shows in place of a default. If it is absent: `none`. */
  readonly unset?: string;
  readonly meaning: string;
};

export type Environment = 'development' | 'production' | 'test';
type PerEnvironment = Readonly<Record<Environment, string>>;

export const byEnvironment = (other: string, production: string): PerEnvironment => ({
  development: other,
  production,
  test: other,
});

export const formatOf = <T>(expected: string, parse: Format<T>['parse']): Format<T> => ({ expected, parse });

export const textFormat = (expected: string, isFit: (text: string) => boolean): Format<string> =>
  formatOf(expected, (text) => (isFit(text) ? text : undefined));

export const json = <T>(expected: string, schema: v.GenericSchema<unknown, T>): Format<T> =>
  formatOf(expected, (text) => {
    const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
    return success ? output : undefined;
  });

export const hasControls = (text: string): boolean => /\p{Cc}/u.test(text);
export const itemsOf = (text: string): string[] => text.split(',').map((item) => item.trim());

export const oneOf = <const T extends readonly string[]>(...options: T): Format<T[number]> =>
  formatOf(options.join(', ').replace(/, (\w+)$/, ' or $1'), (text) => options.find((option) => option === text));

/** The options that a text lists, separated by commas, in the order of `options`; `undefined` if it lists anything else. */
export const optionsIn = <const T extends string>(text: string, options: readonly T[]): readonly T[] | undefined => {
  const items = itemsOf(text);
  const chosen = options.filter((option) => items.includes(option));
  return items.every((item) => chosen.some((option) => option === item)) ? chosen : undefined;
};

export const someOf = <const T extends string>(options: readonly T[]) =>
  formatOf<readonly T[]>(`some of ${options.join(', ')}, separated by commas, or off`, (text) =>
    text === 'off' ? [] : optionsIn(text, options),
  );

/** The values of OTEL_TRACES_SAMPLER in the specification of OpenTelemetry, except those of other systems. */
export const SAMPLERS = [
  ...(['always_on', 'always_off', 'traceidratio'] as const),
  ...(['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'] as const),
] as const;

export const ratio = formatOf('a number from 0 to 1, such as 0.05', (text) =>
  /^(?:0|1|[01]\.0+|0?\.\d{1,9})$/.test(text) ? Number(text) : undefined,
);

export const flag = formatOf('true or false', (text) =>
  text === 'true' || text === 'false' ? text === 'true' : undefined,
);

export const wholeNumber = (min: number, max: number, unit = ''): Format<number> =>
  formatOf(`a whole number ${unit}from ${min} to ${max}`, (text) => {
    const isFit = /^(?:0|[1-9]\d{0,14})$/.test(text) && Number(text) >= min && Number(text) <= max;
    return isFit ? Number(text) : undefined;
  });

export const portOrOff = formatOf('off, or a port from 1 to 65535', (text) => {
  if (text === 'off') return null;
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
});

export const milliseconds = (min: number, max: number) => wholeNumber(min, max, 'of milliseconds ');

export const DAY = 86_400_000;
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY };
/** The longest duration. The present time plus this duration is a valid date. */
export const TEN_YEARS = 3_650 * DAY;

const inMilliseconds = (text: string, max: number): number | undefined => {
  const [, amount, unit = ''] = /^([1-9]\d{0,9})([smhd])$/.exec(text) ?? [];
  const result = Number(amount) * (UNITS[unit] ?? Number.NaN);
  return result <= max ? result : undefined;
};

export const duration = formatOf('a duration such as 10s, 15m, 12h or 7d, at most 3650d', (text) =>
  inMilliseconds(text, TEN_YEARS),
);
export const durationOrOff = formatOf(`${duration.expected}, or off`, (text) =>
  text === 'off' ? null : inMilliseconds(text, TEN_YEARS),
);
export const durationFromZero = (longest: '1m' | '5m') =>
  formatOf(`a duration such as 5s, at most ${longest}, or 0`, (text) =>
    text === '0' ? 0 : inMilliseconds(text, inMilliseconds(longest, TEN_YEARS) ?? 0),
  );

const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;
/** Epoch milliseconds. A date without a time is the beginning of that day in UTC. */
export const date = formatOf('a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z', (text) => {
  // The day is compared, since `Date.parse` reads the 30th of February as a day of March.
  const day = Date.parse(text.slice(0, 10));
  const isDay = DATE.test(text) && !Number.isNaN(day) && new Date(day).toISOString().startsWith(text.slice(0, 10));
  const at = isDay ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
});

export const address = textFormat(
  'an IP address or a host name',
  (text) => isIP(text) !== 0 || /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})$/.test(text),
);

const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** In lower case, as browsers write domains. */
export const domain = textFormat(
  'a domain in lower case, without scheme and port, such as example.com',
  (text) => text.length <= 253 && DOMAIN.test(text),
);

export const networks = formatOf('networks in CIDR notation such as 10.1.0.0/16, separated by commas', (text) => {
  const items = text === '' ? [] : itemsOf(text);
  return items.every((each) => ipaddr.isValidCIDR(each)) ? items.map((each) => ipaddr.parseCIDR(each)) : undefined;
});

const emailDomain = (text: string): string | undefined => {
  const [, dot = '', name = ''] = /^(\.?)([^.].*)$/s.exec(text) ?? [];
  const ascii = domainToASCII(name);
  const isFit = DOMAIN.test(ascii) && ascii.length <= 253 && !hasControls(name);
  return isFit && (dot !== '' || ascii.includes('.')) ? dot + ascii : undefined;
};

export const emailDomains = formatOf<readonly string[]>(
  'domains such as example.com, or .example.com for its subdomains, separated by commas',
  (text) => {
    const domains = itemsOf(text).map(emailDomain);
    return domains.every((each) => each !== undefined) ? domains : undefined;
  },
);

/** An address and a port; `null` for `off`. In the text, an IPv6 address is in brackets. */
export const metricsAddress = formatOf(
  'off, a port such as 9464, or an address and a port such as 0.0.0.0:9464',
  (text) => {
    if (text === 'off') return null;
    const [, hostText = '127.0.0.1', port] = /^(?:(\[[0-9A-Fa-f.:]+\]|[0-9.]+):)?([1-9]\d{0,4})$/.exec(text) ?? [];
    const host = hostText.replace(/^\[|\]$/g, '');
    return isIP(host) !== 0 && Number(port) <= 65_535 ? { host, port: Number(port) } : undefined;
  },
);

/** A leading `~` is refused, since only shells expand it. */
export const path = textFormat(
  'a path without a leading ~ and surrounding spaces',
  (text) => text.trim() === text && !text.startsWith('~') && !hasControls(text),
);

export const TIERS = ['global', 'strict', 'public'] as const;
/** The number of requests in a window of milliseconds; `null` for no limit. */
type RateLimit = { readonly requests: number; readonly window: number } | null;
export type RateLimits = Readonly<Record<(typeof TIERS)[number], RateLimit>>;

const rateLimit = (text: string): RateLimit | undefined => {
  if (text === 'off') return null;
  const [, requests, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,4})$/.exec(text) ?? [];
  return Number(seconds) <= 86_400 ? { requests: Number(requests), window: Number(seconds) * 1_000 } : undefined;
};

export const rateLimits = formatOf<Partial<RateLimits>>(
  'one or more of global, strict and public, each with requests/seconds such as 100/60 (at most 86400 seconds) or off: global=100/60,strict=20/60,public=off; or off',
  (text) => {
    if (text === 'off') return { global: null, strict: null, public: null };
    const limits = new Map<string, RateLimit>();
    for (const item of itemsOf(text)) {
      const [, tier = '', limitText = ''] = /^(\w+)=(\S+)$/.exec(item) ?? [];
      const limit = rateLimit(limitText);
      if (limit === undefined || limits.has(tier) || !TIERS.some((name) => name === tier)) return undefined;
      limits.set(tier, limit);
    }
    return Object.fromEntries(limits);
  },
);

export const operatorRules = formatOf<readonly OperatorRule[]>(
  'attributes and their values, separated by commas: roles:operator, or roles:support=users:read for those who may only look',
  (text) => {
    const rules = itemsOf(text).flatMap((item): OperatorRule[] => {
      const [, attribute, value, readOnly] = /^([A-Za-z][\w-]{0,63}):([\w.-]{1,64})(=users:read)?$/.exec(item) ?? [];
      const scopes = readOnly === undefined ? SCOPES : (['users:read'] as const);
      return attribute === undefined || value === undefined ? [] : [{ attribute, value, scopes }];
    });
    return rules.length === itemsOf(text).length ? rules : undefined;
  },
);

const threshold = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
export const thresholds = json(
  'JSON such as {"warn":1000,"error":3000}, in whole milliseconds, with warn at most error',
  v.pipe(
    v.strictObject({ warn: threshold, error: threshold }),
    v.check(({ warn, error }) => warn <= error),
  ),
);

const MAX_PROVIDERS = 10;

/** The names become parts of URLs and of the names of variables. */
export const providerNames = formatOf<readonly string[]>(
  `1 to ${MAX_PROVIDERS} different names, separated by commas, of up to 31 small letters, digits and single hyphens, beginning with a letter`,
  (text) => {
    const names = itemsOf(text);
    const isFit = names.every((name) => /^[a-z](?:[a-z\d]|-(?!-|$)){0,30}$/.test(name));
    return isFit && names.length <= MAX_PROVIDERS && new Set(names).size === names.length ? names : undefined;
  },
);

export const tablePrefix = textFormat(
  'up to 31 small letters, digits and underscores, beginning with a letter',
  (text) => /^(?:[a-z][a-z0-9_]{0,30})?$/.test(text),
);
