import * as v from 'valibot';
import { NOTICES } from '../../domain/message.ts';
import { DAY } from './duration.ts';
import * as form from './schemas.ts';
import type { Variable } from './variable.ts';

/** The default sender outside production. */
export const LOCAL_SENDER = 'Tandem <tandem@localhost>';

/** Settings of mail, of links in it, and of what is kept about accounts. */
export const ACCOUNT_VARIABLES = {
  MAIL_URL: {
    schema: v.optional(form.mailUrl),
    expected:
      'an smtp:// or smtps:// URL with a host, with user and password or neither, special characters percent-encoded, and without path and query',
    unset: 'files in DATA_DIR/mail (production: no mail)',
    meaning:
      'The mail server: smtps:// with TLS from the start, smtp:// with STARTTLS, which another machine must offer. Without it, production has neither password reset nor email verification.',
  },
  MAIL_FROM: {
    schema: v.optional(form.mailbox),
    expected: 'an address such as auth@example.com, or a name and an address such as Example <auth@example.com>',
    unset: `${LOCAL_SENDER} (production: required with MAIL_URL)`,
    meaning: 'The sender of mail: an address, or a name and an address.',
  },
  MAIL_ALLOW_PLAIN: {
    schema: form.flag,
    expected: 'true or false',
    default: 'false',
    meaning:
      'Whether a password and links may be sent unencrypted to a mail server on another machine that does not offer STARTTLS.',
  },
  ACCOUNT_PAGES_URL: {
    schema: v.optional(form.baseUrl),
    expected: 'an http or https URL without credentials, query and fragment',
    unset: '/account, below BASE_URL',
    meaning: 'The URL below which links in mail find their pages. By default these are the pages of the service.',
  },
  PASSWORD_RESET_EXPIRES_IN: {
    schema: form.durationUpTo(DAY),
    expected: 'a duration such as 30m or 2h, at most 1d',
    default: '30m',
    meaning: 'How long the link of a password reset is valid; at most 1d.',
  },
  EMAIL_VERIFICATION: {
    schema: v.optional(v.picklist(['off', 'optional', 'required'])),
    expected: 'off, optional or required',
    unset: 'optional (without mail: off)',
    meaning:
      'Whether users prove their email address: off, optional, or required, which refuses log-ins until they have.',
  },
  EMAIL_VERIFICATION_EXPIRES_IN: {
    schema: form.durationUpTo(30 * DAY),
    expected: 'a duration such as 12h or 1d, at most 30d',
    default: '1d',
    meaning: 'How long the link that proves an email address is valid; at most 30d.',
  },
  EVENTS_RETENTION: {
    schema: form.duration,
    expected: 'a duration such as 90d, at most 3650d',
    default: '180d',
    meaning: 'How long the events of an account are kept.',
  },
  MAIL_NOTICES: {
    schema: form.listOf(NOTICES),
    expected: `some of ${NOTICES.join(', ')}, separated by commas, or off`,
    default: NOTICES.join(','),
    meaning:
      'What users are told by mail: a log-in on a new device, a changed password, a changed email address, a replayed token; or off.',
  },
  AUDIT_ACCOUNT_NAMES: {
    schema: v.picklist(['on', 'off']),
    expected: 'on or off',
    default: 'off',
    meaning: 'Whether the log names the account in lines about events: on or off. User ids are always there.',
  },
} as const satisfies Record<string, Variable>;
