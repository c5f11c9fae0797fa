import type { Notice } from '../../domain/message.ts';
import { LOCAL_SENDER } from './account-variables.ts';
import { hostOf, isLoopback } from './hosts.ts';
import type { Values } from './values.ts';

/** The part of the configuration for mail, and for what is kept about accounts. */
export type AccountSettings = {
  /** `null`: there is no mail. */
  readonly mail: {
    /** Contains a password; `null`: mail is written to files in `dataDir`. */
    readonly url: string | null;
    /** An address, or a name and an address in angle brackets. */
    readonly from: string;
    /** Whether `smtp:` needs STARTTLS: the server is on another machine. */
    readonly requireTls: boolean;
  } | null;
  /** An http(s) URL without a trailing slash, below which links find their pages. */
  readonly accountPagesUrl: string;
  /** Whether these are the pages of the service. */
  readonly ownAccountPages: boolean;
  /** Milliseconds, as are the next two. */
  readonly passwordResetLifetime: number;
  readonly emailVerificationLifetime: number;
  readonly eventsRetention: number;
  /** `off` without mail. */
  readonly emailVerification: 'off' | 'optional' | 'required';
  readonly notices: ReadonlySet<Notice>;
  readonly auditAccountNames: boolean;
};

export const accountSettings = (values: Values, baseUrl: string): AccountSettings => {
  const mail = mailOf(values);
  return {
    mail,
    accountPagesUrl: values.ACCOUNT_PAGES_URL ?? `${baseUrl}/account`,
    ownAccountPages: values.ACCOUNT_PAGES_URL === undefined,
    passwordResetLifetime: values.PASSWORD_RESET_EXPIRES_IN,
    emailVerificationLifetime: values.EMAIL_VERIFICATION_EXPIRES_IN,
    eventsRetention: values.EVENTS_RETENTION,
    emailVerification: mail === null ? 'off' : (values.EMAIL_VERIFICATION ?? 'optional'),
    notices: new Set(values.MAIL_NOTICES),
    auditAccountNames: values.AUDIT_ACCOUNT_NAMES === 'on',
  };
};

const mailOf = (values: Values): AccountSettings['mail'] => {
  const {
    NODE_ENV: environment,
    MAIL_URL: url,
    MAIL_FROM: from = LOCAL_SENDER,
    MAIL_ALLOW_PLAIN: allowsPlain,
  } = values;
  if (url !== undefined) return { url, from, requireTls: !allowsPlain && !isLoopback(hostOf(new URL(url))) };
  return environment === 'production' ? null : { url: null, from, requireTls: false };
};
