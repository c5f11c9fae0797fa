import type { Templates } from '../templates.ts';

/** The mails that are sent, and the placeholders that the texts of each may have (`{name}`). */

const HAPPENED = ['time', 'device', 'network'] as const;
const NOTICE = [...HAPPENED, 'resetPage'] as const;
const UNDOABLE = [...HAPPENED, 'undoLink', 'undoUntil'] as const;
/** The ways in that outlive what happened: an attacker may have added them. */
const LEFT = ['passkeys', 'apps', 'signIns'] as const;

/** By the name of the mail, which is the kind of the message. A kind with two texts has two mails. */
export const MAIL_VARIABLES = {
  'password-reset': ['link', 'validFor'],
  'login-code': [...HAPPENED, 'code', 'codePage', 'validFor'],
  'confirmation-code': [...HAPPENED, 'code', 'validFor'],
  'email-verification': ['username', 'confirmLink', 'disownLink', 'validFor'],
  'address-taken': ['resetPage'],
  invitation: ['link', 'validFor'],
  'email-change': ['username', 'link', 'validFor'],
  'email-changed': ['username', 'newEmail', 'undoLink', 'undoFor', ...LEFT],
  /** While an even earlier address can still be restored. */
  'email-changed-again': ['username', 'newEmail'],
  'email-change-final': ['username', 'undoUntil'],
  'email-change-undone': ['username', 'resetPage', ...LEFT],
  'password-was-reset': [...NOTICE, ...LEFT],
  'password-changed': NOTICE,
  /** With all that was added before the address was proven. */
  'password-removed': NOTICE,
  /** Than can be stored. It was imported. */
  'password-too-long': NOTICE,
  /** In the former language. */
  'locale-changed': NOTICE,
  'username-changed': NOTICE,
  exported: NOTICE,
  'new-device': UNDOABLE,
  'token-replayed': NOTICE,
  'device-unproven': NOTICE,
  'passkey-added': UNDOABLE,
  'passkey-removed': UNDOABLE,
  /** While a former address, or an earlier mail, can undo more. */
  'factors-changed-again': NOTICE,
  'factors-undone': ['username', 'resetPage', ...LEFT],
  'passkey-copy-suspected': NOTICE,
  'identity-linked': UNDOABLE,
  'identity-unlinked': UNDOABLE,
  'second-factor-added': UNDOABLE,
  'second-factor-removed': UNDOABLE,
  'recovery-code-used': NOTICE,
  'recovery-codes-made': UNDOABLE,
} as const;

export type MailName = keyof typeof MAIL_VARIABLES;
// `Object.keys` is typed to return any strings.
export const MAIL_NAMES = Object.keys(MAIL_VARIABLES) as MailName[];

export const COMMON_VARIABLES = ['brand'] as const;

/** The variables that are addresses of pages. All but the last two have a token, with which anybody may act. */
const LINK_VARIABLES = ['link', 'confirmLink', 'disownLink', 'undoLink', 'resetPage', 'codePage'] as const;
export type LinkVariable = (typeof LINK_VARIABLES)[number];

export const isLinkVariable = (name: string): name is LinkVariable => LINK_VARIABLES.some((each) => each === name);

/** The variables whose texts come from the service, its configuration or its operator. All others are sanitized. */
export const isTrustedVariable = (name: string): boolean =>
  isLinkVariable(name) || ['brand', 'network', 'apps', 'code', 'subject', 'locale'].includes(name);

/** Of the layout around every mail, which is HTML. */
export const LAYOUT_VARIABLES = ['content', 'footer', 'subject', 'locale', 'direction', 'brand'] as const;

/** A value before it is a text: some depend on the language. An empty text or list is shown as a dash. */
export type MailValue =
  | string
  /** Names that clients choose: each is shown in quotation marks. */
  | readonly string[]
  /** Milliseconds, a multiple of 1,000. */
  | { readonly duration: number }
  | { readonly time: number };

/** What mails are made of in a language. A mail is its subject and its paragraphs. */
export type MailTexts = {
  readonly direction: string;
  /** Below every mail. */
  readonly footer: string;
  /** Paragraphs that several mails have, each as a paragraph that is its placeholder: `{happened}`. */
  readonly parts: Readonly<Record<string, readonly string[]>>;
  readonly mails: Readonly<Record<MailName, readonly string[]>>;
};
/** The layout, and texts that may lack what others have. */
export type MailTemplates = Templates<Partial<MailTexts>>;
