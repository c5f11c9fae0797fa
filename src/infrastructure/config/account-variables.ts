import { NOTICE_GROUPS } from '../../domain/event-table.ts';
import { canonicalLocale, hasHidden } from '../../domain/text.ts';
import { EMAIL_MAX_LENGTH, EMAIL_PATTERN } from '../../domain/user.ts';
import * as format from './formats.ts';
import { adoptionKeys, hookKey, operatorKeys, secretKeys } from './keys.ts';
import { mailOAuth, mailUrl } from './server-urls.ts';
import * as url from './urls.ts';
import { baseUrl, hookUrl } from './urls.ts';

/** The default of MAIL_FROM outside production. */
export const LOCAL_SENDER = 'Tandem <tandem@localhost>';
/** A rotation of the key needs two keys. More than ten are probably a mistake. */
export const MAX_FACTOR_KEYS = 10;

/** Whether the text is an email address. Its host may have one label, such as `localhost`. */
const isMailAddress = (text: string): boolean =>
  text.length <= EMAIL_MAX_LENGTH && (EMAIL_PATTERN.test(text) || EMAIL_PATTERN.test(`${text}.example`));

const MAILBOX = /^(?:[^<>()[\]:;@\\,"\s][^<>()[\]:;@\\,"]{0,99} <([^<>]+)>|[^<>]+)$/u;
/** A mailbox of RFC 5322 §3.4 in a simple form: an address in ASCII, alone or after a name without special characters. */
const mailbox = format.textFormat(
  'an address such as auth@example.com, or a name and an address such as Example <auth@example.com>',
  (text) => {
    const match = MAILBOX.exec(text);
    return match !== null && !hasHidden(text) && isMailAddress(match[1] ?? text);
  },
);

export const brandName = format.textFormat(
  '1 to 60 visible characters, without spaces around them',
  (text) => /^(?! ).{1,60}(?<! )$/u.test(text) && !hasHidden(text),
);

/** Without the characters that could end the value in a stylesheet. */
const fontNames = format.textFormat('names of fonts, separated by commas, such as Inter, sans-serif', (text) =>
  /^[A-Za-z][\w -]{0,60}(?:, ?[A-Za-z][\w -]{0,60}){0,7}$/.test(text),
);

const color = format.formatOf('a colour such as #14643a', (text) =>
  /^#[0-9A-Fa-f]{6}$/.test(text) ? text.toLowerCase() : undefined,
);

const locale = format.formatOf('a language tag such as en or de-AT', (text) => canonicalLocale(text) ?? undefined);

export const ACCOUNT_VARIABLES = {
  REGISTRATION: {
    format: format.oneOf('open', 'invited', 'closed'),
    default: 'open',
    meaning:
      'Who may register: anybody (open), those with an invitation of npx tandem users (invited), or nobody (closed). An invitation needs mail, and passes REGISTRATION_DOMAINS.',
  },
  REGISTRATION_DOMAINS: {
    format: format.emailDomains,
    unset: 'all',
    meaning:
      'The domains of the email addresses with which users may register, and to which they may change theirs: example.com is that domain alone, .example.com its subdomains. Separate several with commas.',
  },
  HOOK_BEFORE_REGISTER: {
    format: url.hookUrl,
    secret: true,
    meaning:
      'The URL that is asked about each registration, and answers whether it is allowed. If it fails, nobody can register.',
  },
  HOOK_PRIVATE_KEY: {
    format: hookKey,
    secret: true,
    unset: 'generated in DATA_DIR',
    meaning:
      'The private key that signs the requests to HOOK_BEFORE_REGISTER, to VERIFY_PASSWORDS_AT and to a MAIL_URL with https, and from which the keys of webhooks are derived: Ed25519 in PEM (PKCS#8), with line breaks or the text \\n. Several instances need the same one.',
  },
  WEBHOOK_ALLOWED_NETWORKS: {
    format: format.networks,
    default: '',
    meaning:
      'Private networks in which receivers of webhooks may be, in CIDR notation, separated by commas: 10.1.0.0/16. There, http is allowed as well.',
  },
  MAIL_URL: {
    format: mailUrl,
    secret: true,
    unset: 'files in DATA_DIR/mail (production: no mail)',
    meaning:
      'The mail server: smtps:// with TLS from the start, smtp:// with STARTTLS, which another machine must offer unless the URL ends with ?requireTLS=false; or https:// of a server of yours, which gets each mail as a signed request. Without it, production has neither password reset nor email verification.',
  },
  MAIL_OAUTH: {
    format: mailOAuth,
    secret: true,
    unset: 'none: the password in MAIL_URL',
    meaning:
      'How the user of MAIL_URL gets access tokens in place of a password, as Microsoft 365 and Gmail want it: https://ID:SECRET@login.microsoftonline.com/TENANT/oauth2/v2.0/token?scope=https%3A%2F%2Foutlook.office365.com%2F.default. With &refresh_token=… at its end, they are tokens of the owner of the mailbox.',
  },
  MAIL_FROM: {
    format: mailbox,
    unset: `${LOCAL_SENDER} (production: required with MAIL_URL)`,
    meaning: 'The sender of mail: an address, or a name and an address.',
  },
  ACCOUNT_PAGES: {
    format: format.oneOf('on', 'off'),
    unset: 'on (production: off)',
    meaning:
      'Whether the service has pages on which people log in, register and change their account: /auth/log-in and those that it leads to. If the service sends mail, it has the pages for links in mail with on and off, unless ACCOUNT_PAGES_URL names others.',
  },
  ACCOUNT_PAGES_URL: {
    format: url.baseUrl,
    unset: '/auth/link, below BASE_URL',
    meaning:
      'The URL below which links in mail find their pages, if these are your own. By default they are the pages of the service, also with ACCOUNT_PAGES=off.',
  },
  EMAIL_VERIFICATION: {
    format: format.oneOf('off', 'optional', 'required'),
    unset: 'optional (without mail: off)',
    meaning: 'Whether users verify their email address: off, optional, or required, which refuses log-ins before that.',
  },
  LOGIN_BY_CODE: {
    format: format.oneOf('on', 'off'),
    default: 'off',
    meaning: 'Whether users may log in with a code that they get by mail. Needs mail.',
  },
  NEW_DEVICE_CODE: {
    format: format.oneOf('on', 'off', 'while-mail-works'),
    default: 'off',
    meaning:
      'Whether a right password on a device that is new to the account needs a code by mail, too, if the address is verified and there is no second factor. With while-mail-works, a user for whom a code has waited to be sent for five minutes needs none. Needs mail.',
  },
  OIDC_PROVIDERS: {
    format: format.providerNames,
    meaning:
      'The providers at which users may log in, separated by commas: google, microsoft, apple, github, or names of your own. Each has variables of its own, OIDC_GOOGLE_CLIENT_ID and so on: docs/oauth.md.',
  },
  PASSWORD_HASH: {
    format: format.oneOf('bcrypt', 'argon2id'),
    default: 'bcrypt',
    meaning:
      'How passwords are hashed. argon2id takes 19 MiB and less time, has no limit of 72 bytes, and needs Node.js 24.7; hashes of the other kind are replaced at log-in.',
  },
  PASSWORD_MIN_LENGTH: {
    format: format.wholeNumber(8, 64),
    default: '8',
    meaning: 'The least number of characters of new passwords. NIST asks for 15 where the password is the only factor.',
  },
  LEAKED_PASSWORDS_FILE: {
    format: format.path,
    unset: 'none',
    meaning:
      'A file of leaked passwords, which npx tandem data leaked makes: they are refused as new passwords, and a user who logs in with one gets a mail.',
  },
  LEAKED_PASSWORDS_URL: {
    format: url.baseUrl,
    unset: 'none',
    meaning:
      'In place of a file, a server that is asked for the leaked hashes which begin with the first five digits of the SHA-1 of a password, such as https://api.pwnedpasswords.com/range. Without its answer within two seconds, a password passes.',
  },
  PASSWORDS: {
    format: format.oneOf('required', 'optional'),
    default: 'required',
    meaning:
      'Whether every user has a password. With optional, users may register with an email address alone and log in with codes by mail, which needs LOGIN_BY_CODE=on.',
  },
  MAIL_NOTICES: {
    format: format.someOf(NOTICE_GROUPS),
    default: NOTICE_GROUPS.join(','),
    meaning:
      'What users are notified of by mail: new-device (a log-in on a new device, or after many that failed), password (one that was changed, or should be), email (a changed address, username or language, an export of the account), replay (a replayed token, or one without the proof of its device), factors (changes of passkeys, authenticator apps, recovery codes and log-ins at providers, and a used recovery code); or off.',
  },
  SECOND_FACTOR: {
    format: format.oneOf('optional', 'required'),
    default: 'optional',
    meaning:
      'Whether users may have a second factor, or need one: with required, a log-in of a user without one opens no session before the user has added one. Production needs FACTOR_KEYS for that.',
  },
  FACTOR_KEYS: {
    format: secretKeys(MAX_FACTOR_KEYS),
    secret: true,
    unset: 'generated in DATA_DIR (production: no authenticator apps)',
    meaning:
      'The keys that encrypt the secrets of authenticator apps, separated by commas: the first encrypts, all decrypt. npx tandem keys factors makes one.',
  },
  EVENTS_RETENTION: {
    format: format.duration,
    default: '180d',
    meaning: 'How long the events of an account are kept.',
  },
  BRAND_NAME: {
    format: brandName,
    unset: 'the host of BASE_URL',
    meaning: 'The name of the product, in mails, on pages, in authenticator apps and where browsers ask for a passkey.',
  },
  BRAND_LOGO_URL: {
    format: url.logoUrl,
    unset: 'no logo',
    meaning: 'The logo on the pages. Browsers load it from its own host.',
  },
  BRAND_LOGO_DARK_URL: {
    format: url.logoUrl,
    unset: 'BRAND_LOGO_URL',
    meaning: 'The logo where the browser prefers dark. It is shown only if BRAND_LOGO_URL is set.',
  },
  BRAND_ICON_URL: {
    format: url.logoUrl,
    unset: 'a green icon',
    meaning: 'The icon of the pages, in the tab of the browser.',
  },
  BRAND_TERMS_URL: {
    format: url.pageUrl,
    unset: 'no link',
    meaning: 'The terms of the product, to which the pages link.',
  },
  BRAND_PRIVACY_URL: {
    format: url.pageUrl,
    unset: 'no link',
    meaning: 'The page that says what the product does with personal data, to which the pages link.',
  },
  BRAND_SUPPORT_URL: {
    format: url.supportUrl,
    unset: 'no link',
    meaning: 'The page where users get help, to which the pages link, or mailto: with an address.',
  },
  BRAND_COLOR: {
    format: color,
    unset: 'green',
    meaning: 'The colour of the buttons on the pages. Their text is black or white, whichever is easier to read.',
  },
  BRAND_FONT: {
    format: fontNames,
    unset: 'that of the system',
    meaning: 'The font of the pages: names of fonts that browsers have, separated by commas, the preferred one first.',
  },
  BRAND_RADIUS: {
    format: format.wholeNumber(0, 32),
    default: '8',
    meaning: 'The radius of the corners of fields, buttons and cards on the pages, in pixels.',
  },
  BRAND_BACKGROUND: {
    format: color,
    unset: 'white, or black where the browser prefers dark',
    meaning: 'The colour behind the card of the pages, in light and in dark.',
  },
  DEFAULT_LOCALE: {
    format: locale,
    default: 'en',
    meaning:
      'The language of mails and pages for users in whose language there are no texts. There are texts in ar, cs, de, en, es, fr, he, it, ja, nl, pl, pt-BR, sv, tr, uk and zh-CN.',
  },
  PAGE_TEMPLATES: {
    format: format.path,
    unset: 'the built-in templates and texts',
    meaning:
      'A directory of your own templates and texts of the pages for users, in place of the built-in ones: <page>.html and <language>.json; and style.css. npx tandem templates eject DIR makes DIR/pages.',
  },
  MAIL_TEMPLATES: {
    format: format.path,
    unset: 'the built-in templates and texts',
    meaning:
      'A directory of your own texts and layout of mails, in place of the built-in ones: <language>.json and layout.html. npx tandem templates eject DIR makes DIR/mails.',
  },
} as const satisfies Record<string, format.Variable>;

/** For a move from another system, whose users can stay logged in and keep their passwords. */
export const FORMER_SYSTEM_VARIABLES = {
  ADOPTION_PUBLIC_KEY: {
    format: adoptionKeys,
    secret: true,
    unset: 'no adoption',
    meaning:
      'The public keys of the former system, whose assertions open sessions of their users at POST /auth/adopt: EC P-256 or Ed25519 in PEM, one to five.',
  },
  ADOPTION_ENDS: {
    format: format.date,
    unset: 'never (production: required with ADOPTION_PUBLIC_KEY)',
    meaning: 'The date from which on no session is adopted, in UTC, within a year.',
  },
  VERIFY_PASSWORDS_AT: {
    format: hookUrl,
    secret: true,
    meaning:
      'The URL of the former system that verifies the passwords of users who were imported without a hash, at their first log-in. HOOK_PRIVATE_KEY signs the requests.',
  },
  VERIFY_PASSWORDS_UNTIL: {
    format: format.date,
    unset: 'never (production: required with VERIFY_PASSWORDS_AT)',
    meaning: 'The date from which on users of VERIFY_PASSWORDS_AT set a new password instead, in UTC, within a year.',
  },
} as const satisfies Record<string, format.Variable>;

const headerName = format.formatOf('the name of one header, such as X-Forwarded-Email', (text) =>
  /^[A-Za-z][\w-]{0,63}$/.test(text) && !RESERVED.includes(text.toLowerCase()) ? text.toLowerCase() : undefined,
);

/** Headers that clients set themselves, or that have another meaning in this service. */
const RESERVED = ['host', 'cookie', 'origin', 'authorization', 'user-agent', 'content-type', 'tandem-proxy-secret'];

const proxySecret = format.textFormat(
  '32 to 256 letters, digits, dots, underscores, hyphens and signs of Base64',
  (text) => /^[\w.~+/=-]{32,256}$/.test(text),
);

export const ADMIN_VARIABLES = {
  ADMIN_PORT: {
    format: format.portOrOff,
    default: 'off',
    meaning: 'The TCP port of the back office, for operators and their programs. Not the port of the service.',
  },
  ADMIN_HOST: { format: format.address, default: '127.0.0.1', meaning: 'The address that the back office listens on.' },
  ADMIN_URL: {
    format: baseUrl,
    unset: 'http://$ADMIN_HOST:$ADMIN_PORT',
    meaning:
      'The URL at which programs and browsers reach the back office, and the audience of the assertions of programs.',
  },
  ADMIN_KEYS: {
    format: operatorKeys,
    secret: true,
    meaning:
      'The programs that may use the back office, as JSON: a name, scopes (users:read, users:write) and a public key each. npx tandem keys admin makes one.',
  },
  ADMIN_USERS: {
    format: format.operatorRules,
    unset: 'nobody',
    meaning:
      'The users who may log in to the pages of the back office, by attributes: roles:operator are those whose attribute roles is operator, or a list with it; roles:support=users:read may only look. Separate several with commas.',
  },
  RESET_LINK_HAND_OVER: {
    format: format.oneOf('on', 'off'),
    default: 'off',
    meaning: 'Whether operators may get the link that sets a password, to hand it over. They could use it, too.',
  },
  ADMIN_IDENTITY_HEADER: {
    format: headerName,
    meaning:
      'The header in which a proxy sends the name of the person whom it has authenticated, for the pages of the back office, such as X-Forwarded-Email. Needs ADMIN_PROXY_SECRET.',
  },
  ADMIN_PROXY_SECRET: {
    format: proxySecret,
    secret: true,
    meaning:
      'A secret that the proxy of ADMIN_IDENTITY_HEADER sends in the header Tandem-Proxy-Secret. openssl rand -hex 32 makes one.',
  },
} as const satisfies Record<string, format.Variable>;
