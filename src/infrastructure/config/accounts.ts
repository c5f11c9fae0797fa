import * as v from 'valibot';
import { hostOf } from '../../adapters/redis/url.ts';
import { NOTICES } from '../../domain/message.ts';
import { isLoopback, isPlainHttp } from './hosts.ts';
import * as form from './schemas.ts';
import { baseUrlOf, originSettings, type ServiceValues } from './service.ts';
import type { Rule, ValuesOf, Variable } from './variable.ts';

/** The default sender outside production. */
const LOCAL_SENDER = 'Tandem <tandem@localhost>';
/** A rotation needs two. */
export const MAX_FACTOR_KEYS = 10;

export const ACCOUNT_VARIABLES = {
  MAIL_URL: {
    schema: v.optional(form.mailUrl),
    expected:
      'an smtp:// or smtps:// URL with a host, with user and password or neither, special characters percent-encoded, without path, and without query except requireTLS=false',
    unset: 'files in DATA_DIR/mail (production: no mail)',
    meaning:
      'The mail server: smtps:// with TLS from the start, smtp:// with STARTTLS, which another machine must offer unless the URL ends with ?requireTLS=false. Without it, production has neither password reset nor email verification.',
  },
  MAIL_FROM: {
    schema: v.optional(form.mailbox),
    expected: 'an address such as auth@example.com, or a name and an address such as Example <auth@example.com>',
    unset: `${LOCAL_SENDER} (production: required with MAIL_URL)`,
    meaning: 'The sender of mail: an address, or a name and an address.',
  },
  ACCOUNT_PAGES_URL: {
    schema: v.optional(form.baseUrl),
    expected: 'an http or https URL without credentials, query and fragment',
    unset: '/account, below BASE_URL',
    meaning: 'The URL below which links in mail find their pages. By default these are the pages of the service.',
  },
  EMAIL_VERIFICATION: {
    schema: v.optional(v.picklist(['off', 'optional', 'required'])),
    expected: 'off, optional or required',
    unset: 'optional (without mail: off)',
    meaning:
      'Whether users verify their email address: off, optional, or required, which refuses log-ins until they have.',
  },
  MAIL_NOTICES: {
    schema: form.listOf(NOTICES),
    expected: `some of ${NOTICES.join(', ')}, separated by commas, or off`,
    default: NOTICES.join(','),
    meaning:
      'What users are notified of by mail: a log-in on a new device, a changed password, a changed email address or language of mails, a replayed token, a factor that was added or removed, a recovery code that was used; or off.',
  },
  SECOND_FACTOR: {
    schema: v.picklist(['optional', 'required']),
    expected: 'optional or required',
    default: 'optional',
    meaning:
      'Whether users may have a second factor, or need one: with required, a log-in without one can only add one. Production needs FACTOR_KEYS for that.',
  },
  FACTOR_KEYS: {
    schema: v.optional(form.secretKeys(MAX_FACTOR_KEYS)),
    expected: `1 to ${MAX_FACTOR_KEYS} different keys, separated by commas, each of 32 bytes in base64url (43 characters)`,
    unset: 'generated in DATA_DIR (production: no authenticator apps)',
    meaning:
      'The keys that encrypt the secrets of authenticator apps, separated by commas: the first encrypts, all decrypt. npx tandem keys factors makes one.',
  },
  EVENTS_RETENTION: {
    schema: form.duration,
    expected: 'a duration such as 90d, at most 3650d',
    default: '180d',
    meaning: 'How long the events of an account are kept.',
  },
} as const satisfies Record<string, Variable>;

type AccountValues = ValuesOf<typeof ACCOUNT_VARIABLES>;
/** The pages of links in mail are those of the service, or may call it. */
type Values = AccountValues & ServiceValues;

export const accountSettings = (values: Values) => {
  const mail = mailOf(values);
  return {
    /** `null`: there is no mail. */
    mail,
    /** An http(s) URL without a trailing slash, below which links find their pages. */
    accountPagesUrl: values.ACCOUNT_PAGES_URL ?? `${baseUrlOf(values)}/account`,
    /** Whether these are the pages of the service. */
    ownAccountPages: values.ACCOUNT_PAGES_URL === undefined,
    /** Milliseconds. */
    eventsRetention: values.EVENTS_RETENTION,
    /** `off` without mail. */
    emailVerification: mail === null ? ('off' as const) : (values.EMAIL_VERIFICATION ?? ('optional' as const)),
    secondFactor: values.SECOND_FACTOR,
    notices: new Set(values.MAIL_NOTICES),
    /** `null`: the service generates its own in `dataDir`, or in production has no authenticator apps. */
    factorKeys: values.FACTOR_KEYS ?? null,
  };
};

type MailSettings = {
  /** Contains a password; `null`: mail is written to files in `dataDir`. */
  readonly url: string | null;
  /** An address, or a name and an address in angle brackets. */
  readonly from: string;
  /** Whether `smtp:` needs STARTTLS: the server is on another machine. */
  readonly requireTls: boolean;
};

const mailOf = ({ NODE_ENV, MAIL_URL: url, MAIL_FROM: from = LOCAL_SENDER }: Values): MailSettings | null => {
  if (url === undefined) return NODE_ENV === 'production' ? null : { url: null, from, requireTls: false };
  return { url: withoutQuery(url), from, requireTls: !allowsPlain(url) && !isLoopback(hostOf(new URL(url))) };
};

/** `mailUrl` accepts no other query than `requireTLS=false`. */
const allowsPlain = (url: string): boolean => new URL(url).search !== '';
const withoutQuery = (url: string): string => url.replace(/\?.*$/, '');

/** Settings with which nobody could log in, mail could not be sent, or its links would lead nowhere. */
export const accountErrors = (values: Partial<Values>): Rule[] => {
  if (values.NODE_ENV !== 'production') return [];
  const { EMAIL_VERIFICATION: verification = 'off' } = values;
  const hasMail = values.MAIL_URL !== undefined;
  /** An invalid variable is missing. */
  const isUnset = (name: keyof Values) => name in values && values[name] === undefined;
  return [
    [
      values.SECOND_FACTOR === 'required' && isUnset('FACTOR_KEYS'),
      'SECOND_FACTOR: must not be required without FACTOR_KEYS',
    ],
    [hasMail && isUnset('MAIL_FROM'), 'MAIL_FROM: required when MAIL_URL is set'],
    [hasMail && isUnset('BASE_URL'), 'BASE_URL: required in production when MAIL_URL is set, for the links in mail'],
    [isUnset('MAIL_URL') && verification !== 'off', 'EMAIL_VERIFICATION: must be off or unset without MAIL_URL'],
  ];
};

export const accountWarnings = (values: Values): Rule[] => {
  const { MAIL_URL: url, ACCOUNT_PAGES_URL: pages } = values;
  const production = values.NODE_ENV === 'production';
  const baseUrl = baseUrlOf(values);
  const { allowedOrigins, allowedOriginsSetting } = originSettings(values);
  const origins = [new URL(baseUrl).origin, ...allowedOrigins];
  return [
    [production && url === undefined, 'MAIL_URL is unset: there is neither password reset nor email verification'],
    [
      production && values.FACTOR_KEYS === undefined,
      'FACTOR_KEYS is unset: authenticator apps are off. Make a key with `npx tandem keys factors`',
    ],
    [
      url !== undefined && allowsPlain(url) && !isLoopback(hostOf(new URL(url))),
      'MAIL_URL has requireTLS=false: its password and the links in mail are sent unencrypted where the mail server offers no STARTTLS, or somebody on the way removes the offer',
    ],
    [
      pages !== undefined && !origins.includes(new URL(pages).origin),
      `ACCOUNT_PAGES_URL is of an origin that is not in ${allowedOriginsSetting}: its pages cannot call the service`,
    ],
    [
      production && pages !== undefined && isPlainHttp(pages),
      'ACCOUNT_PAGES_URL is http: an attacker on the network can use the links in mail, by changing the pages',
    ],
  ];
};
