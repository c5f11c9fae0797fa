import { RESET_LIFETIME } from './link.ts';
import { LOGIN_CODE_LIFETIME } from './login-code.ts';

/** The table of events, with the webhooks and mails that they cause. A new notice is a row here, its texts, and a call of `recordChange`. */

/** The groups of notices that operators switch on and off. */
export const NOTICE_GROUPS = ['new-device', 'password', 'email', 'replay', 'factors'] as const;
export type NoticeGroup = (typeof NOTICE_GROUPS)[number];

/** Milliseconds in which a limit allows one more mail: five a day. */
export const MAIL_INTERVAL = 86_400_000 / 5;

type EventRow = {
  /** The type of its webhook. Most events that a stranger can cause, or that change nothing, have no webhook. */
  readonly webhook?: string;
  /** The group of its mail, which has the name of the event. */
  readonly notice?: NoticeGroup;
  /** Whether the mail has a link that undoes the change and later ones. */
  readonly undo?: true;
  /** How many of its mails an unverified address gets at once. Default: 5. */
  readonly burst?: number;
};

/** The kinds of events. An ordinary refresh is not recorded. */
export const EVENT_TABLE = {
  registered: { webhook: 'user.registered' },
  /** Somebody tried to register with the address of the account. The response did not show the refusal. */
  'registration-refused': {},
  'logged-in': { webhook: 'session.started' },
  'login-refused': {},
  'login-code-requested': {},
  /** A new session has replaced the one from which the user made a change, or ended the others. */
  'session-opened': { webhook: 'session.started' },
  'session-ended': { webhook: 'session.ended' },
  /** A refresh found that the store had lost rotations of the session (ADR 0002). */
  'session-recovered': {},
  /** A refresh was refused because it had no valid proof of the session's device (ADR 0006). */
  'device-unproven': {},
  'device-bound': {},
  'stepped-up': {},
  'passkey-added': { webhook: 'passkey.added', notice: 'factors', undo: true, burst: 8 },
  'passkey-removed': { webhook: 'passkey.removed', notice: 'factors', undo: true, burst: 8 },
  /** The signature counter of a passkey did not grow, so there may be a copy of its key. */
  'passkey-copy-suspected': { webhook: 'passkey.copy_suspected', notice: 'factors' },
  'identity-linked': { webhook: 'identity.linked', notice: 'factors', undo: true, burst: 8 },
  'identity-unlinked': { webhook: 'identity.unlinked', notice: 'factors', undo: true, burst: 8 },
  /** The user has presented the first code of an authenticator app. */
  'second-factor-added': { webhook: 'second_factor.added', notice: 'factors', undo: true, burst: 8 },
  'second-factor-removed': { webhook: 'second_factor.removed', notice: 'factors', undo: true, burst: 8 },
  'recovery-code-used': { webhook: 'recovery_code.used', notice: 'factors' },
  'recovery-codes-made': { webhook: 'recovery_codes.made', notice: 'factors', undo: true, burst: 8 },
  /** For at most 30 days, log-ins on the device need no second factor, or no code for a new device. It is listed among the sessions. */
  'device-remembered': { webhook: 'device.remembered' },
  'device-forgotten': { webhook: 'device.forgotten' },
  'password-changed': { webhook: 'user.password_changed', notice: 'password', burst: 6 },
  'password-reset-requested': {},
  /** An operator has made a link for a new password, to hand it over to the user. */
  'password-link-handed-over': {},
  'password-reset': { webhook: 'user.password_reset' },
  'email-verification-requested': {},
  'email-verified': { webhook: 'user.email_verified' },
  'email-change-requested': {},
  'email-changed': { webhook: 'user.email_changed' },
  'email-change-undone': { webhook: 'user.email_change_undone' },
  /** A link in a mail has removed the passkeys, authenticator apps, recovery codes and identities that were added since. */
  'factors-undone': { webhook: 'user.factors_undone' },
  'username-changed': { webhook: 'user.username_changed', notice: 'email' },
  exported: { notice: 'email' },
  'locale-changed': { webhook: 'user.locale_changed', notice: 'email' },
  'attributes-changed': { webhook: 'user.attributes_changed' },
  disabled: { webhook: 'user.disabled' },
  enabled: { webhook: 'user.enabled' },
  /** An operator has reset the counts of wrong passwords and codes, so that log-ins need not wait. */
  unlocked: {},
  /** Events of invitations are in the audit log and among the events of the operator. They have the id of the invitation in place of a user's. */
  invited: {},
  'invitation-revoked': {},
  /** In the audit log and, if an operator has caused it, among the events of the operator. The events of the account are deleted with it. */
  deleted: { webhook: 'user.deleted' },
} as const satisfies Readonly<Record<string, EventRow>>;
type EventTable = typeof EVENT_TABLE;

export type ChangeNotice = {
  [Kind in keyof EventTable]: EventTable[Kind] extends { readonly notice: NoticeGroup } ? Kind : never;
}[keyof EventTable];
type Undoable = {
  [Kind in ChangeNotice]: EventTable[Kind] extends { readonly undo: true } ? Kind : never;
}[ChangeNotice];
const isChangeNotice = (kind: string): kind is ChangeNotice =>
  Object.hasOwn(EVENT_TABLE, kind) && 'notice' in EVENT_TABLE[kind as keyof EventTable];

const WHEN_AND_WHERE = ['time', 'device', 'network'] as const;
const NOTICE_VARIABLES = [...WHEN_AND_WHERE, 'resetPage'] as const;
const UNDO_VARIABLES = [...WHEN_AND_WHERE, 'undoLink', 'undoUntil'] as const;
/** The ways in that the account still has: an attacker may have added them. */
const REMAINING_WAYS = ['passkeys', 'apps', 'signIns'] as const;

type MailRow = Pick<EventRow, 'burst'> & {
  readonly variables: readonly string[];
  /** A mail that this one replaces in some cases. */
  readonly insteadOf?: string;
  /** Milliseconds in which an address may get one more such mail, after five at once. At most the lifetime of its link, if it has one. */
  readonly interval?: number;
};

const MAILS = {
  'password-reset': { variables: ['link', 'validFor'], interval: RESET_LIFETIME },
  'email-verification': { variables: ['username', 'confirmLink', 'disownLink', 'validFor'], interval: MAIL_INTERVAL },
  'login-code': { variables: [...WHEN_AND_WHERE, 'code', 'codePage', 'validFor'] },
  /** Somebody has typed the right password on a new device. */
  'new-device-code': { variables: [...NOTICE_VARIABLES, 'code', 'validFor'] },
  'address-taken': { variables: ['resetPage'], burst: 3 },
  invitation: { variables: ['link', 'validFor'], interval: MAIL_INTERVAL },
  'confirmation-code': { variables: [...WHEN_AND_WHERE, 'code', 'validFor'], interval: LOGIN_CODE_LIFETIME },
  'email-change': { variables: ['username', 'link', 'validFor'] },
  'email-changed': { variables: ['username', 'newEmail', 'undoLink', 'undoFor', ...REMAINING_WAYS], burst: 8 },
  /** The address was changed again while a link can still restore an earlier one. */
  'email-changed-again': { variables: ['username', 'newEmail'], insteadOf: 'email-changed' },
  'email-change-final': { variables: ['username', 'undoUntil'], burst: 8 },
  'email-change-undone': { variables: ['username', 'resetPage', ...REMAINING_WAYS] },
  'factors-undone': { variables: ['username', 'resetPage', ...REMAINING_WAYS] },
  /** A notice of a log-in or a change of the ways in, without a link: those of earlier mails undo this change as well, or its own was used or withdrawn. */
  'factors-changed-again': { variables: NOTICE_VARIABLES, insteadOf: 'new-device' },
  'password-was-reset': { variables: [...NOTICE_VARIABLES, ...REMAINING_WAYS], burst: 6 },
  /** The address was proven for the first time, which removed the password and other ways in from before. */
  'password-removed': { variables: NOTICE_VARIABLES },
  /** The password was right, and is too long for a new hash. */
  'password-too-long': { variables: NOTICE_VARIABLES },
  'password-leaked': { variables: NOTICE_VARIABLES },
  'new-device': { variables: UNDO_VARIABLES },
  /** Somebody has typed the right password on a new device, and presented no second factor in time. */
  'second-factor-missing': { variables: NOTICE_VARIABLES, interval: MAIL_INTERVAL },
  /** A log-in on a known device, after many refused log-ins. */
  'login-after-failures': { variables: NOTICE_VARIABLES },
  'token-replayed': { variables: NOTICE_VARIABLES },
  'device-unproven': { variables: NOTICE_VARIABLES },
} as const satisfies Readonly<Record<string, MailRow>>;

export type MailName = ChangeNotice | keyof typeof MAILS;
export const MAIL_NAMES = [...Object.keys(MAILS), ...Object.keys(EVENT_TABLE).filter(isChangeNotice)] as MailName[];

/** The variables of the texts of a mail, besides the product's name. */
export type VariableOf<Mail extends MailName> = Mail extends keyof typeof MAILS
  ? (typeof MAILS)[Mail]['variables'][number]
  : Mail extends Undoable
    ? (typeof UNDO_VARIABLES)[number]
    : (typeof NOTICE_VARIABLES)[number];
export const variablesOf = (mail: MailName): readonly string[] => {
  if (!isChangeNotice(mail)) return MAILS[mail].variables;
  return 'undo' in EVENT_TABLE[mail] ? UNDO_VARIABLES : NOTICE_VARIABLES;
};

/** The mails that are not a variant of another one. */
export type SentMail = {
  [Name in MailName]: Name extends keyof typeof MAILS
    ? (typeof MAILS)[Name] extends { readonly insteadOf: string }
      ? never
      : Name
    : Name;
}[MailName];
export const SENT_MAILS = MAIL_NAMES.filter(
  (name): name is SentMail => isChangeNotice(name) || !('insteadOf' in MAILS[name]),
);

export const limitsOf = (kind: SentMail): { readonly burst?: number; readonly interval?: number } =>
  Object(isChangeNotice(kind) ? EVENT_TABLE[kind] : MAILS[kind]);
