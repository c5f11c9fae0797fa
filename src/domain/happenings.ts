import { RESET_LIFETIME } from './link.ts';
import { LOGIN_CODE_LIFETIME } from './login-code.ts';

/** What happens to accounts, and what is said about it: one row each. A new notice is a row here, its texts, and the call of `recordChange`. */

export const NOTICES = ['new-device', 'password', 'email', 'replay', 'factors'] as const;
export type Notice = (typeof NOTICES)[number];

/** Milliseconds after which an address may get one mail more: five a day. */
export const MAIL_INTERVAL = 86_400_000 / 5;

type Happening = {
  /** What webhooks are told; not of what strangers cause without an account, nor of what is no change. */
  readonly webhook?: string;
  /** With what its mail is switched on, which has the name of the event. */
  readonly notice?: Notice;
  /** The mail has a link that undoes it, and what came after it. */
  readonly undo?: true;
  /** How many of its mails an address that nobody has proven gets at once. Default: 5. */
  readonly burst?: number;
};

/** The kinds of events. A refresh that succeeds is none. */
export const HAPPENINGS = {
  registered: { webhook: 'user.registered' },
  /** Somebody tried to register with the address of the account. The response did not show that it was refused. */
  'registration-refused': {},
  'logged-in': { webhook: 'session.started' },
  'login-refused': {},
  'login-code-requested': {},
  /** A new session has replaced the one from which the user made a change. */
  'session-opened': { webhook: 'session.started' },
  'session-ended': { webhook: 'session.ended' },
  /** A refresh found that the store had lost rotations of the session (ADR 0002). */
  'session-recovered': {},
  /** A refresh was refused, since it had no proof of the session's device (ADR 0006). */
  'device-unproven': {},
  'device-bound': {},
  /** The user of a session has authenticated again. */
  'stepped-up': {},
  'passkey-added': { webhook: 'passkey.added', notice: 'factors', undo: true, burst: 8 },
  'passkey-removed': { webhook: 'passkey.removed', notice: 'factors', undo: true, burst: 8 },
  /** The counter of a passkey went back, which is bound to its device: there may be a copy of its key. */
  'passkey-copy-suspected': { webhook: 'passkey.copy_suspected', notice: 'factors' },
  /** The user can log in with an identity at a provider from now on. */
  'identity-linked': { webhook: 'identity.linked', notice: 'factors', undo: true, burst: 8 },
  'identity-unlinked': { webhook: 'identity.unlinked', notice: 'factors', undo: true, burst: 8 },
  /** An authenticator app has presented its first code. */
  'second-factor-added': { webhook: 'second_factor.added', notice: 'factors', undo: true, burst: 8 },
  'second-factor-removed': { webhook: 'second_factor.removed', notice: 'factors', undo: true, burst: 8 },
  'recovery-code-used': { webhook: 'recovery_code.used', notice: 'factors' },
  /** They replace those that the user had. */
  'recovery-codes-made': { webhook: 'recovery_codes.made', notice: 'factors', undo: true, burst: 8 },
  /** For a month, the password is enough on a device. It is listed among the sessions. */
  'device-remembered': { webhook: 'device.remembered' },
  'device-forgotten': { webhook: 'device.forgotten' },
  'password-changed': { webhook: 'user.password_changed', notice: 'password', burst: 6 },
  'password-reset-requested': {},
  /** An operator has made a link for a new password, and given it to somebody. */
  'password-link-handed-over': {},
  'password-reset': { webhook: 'user.password_reset' },
  'email-verification-requested': {},
  'email-verified': { webhook: 'user.email_verified' },
  'email-change-requested': {},
  'email-changed': { webhook: 'user.email_changed' },
  'email-change-undone': { webhook: 'user.email_change_undone' },
  /** With a link in mail: passkeys, authenticator apps and recovery codes that were added since. */
  'factors-undone': { webhook: 'user.factors_undone' },
  'username-changed': { webhook: 'user.username_changed', notice: 'email' },
  /** The user has read everything that is stored about them. */
  exported: { notice: 'email' },
  'locale-changed': { webhook: 'user.locale_changed', notice: 'email' },
  /** An operator has stated something else about the user. */
  'attributes-changed': { webhook: 'user.attributes_changed' },
  disabled: { webhook: 'user.disabled' },
  enabled: { webhook: 'user.enabled' },
  /** An operator has forgotten the wrong passwords and codes, which made log-ins wait. */
  unlocked: {},
  /** An operator has invited an address, or taken that back. Kept by the audit log only, with the id of the invitation in place of a user's. */
  invited: {},
  'invitation-revoked': {},
  /** Kept by the audit log only: the events of a user are deleted with the user. */
  deleted: { webhook: 'user.deleted' },
} as const satisfies Readonly<Record<string, Happening>>;
type Happenings = typeof HAPPENINGS;

/** The events of which a user is notified by a mail of the same name. */
export type ChangeNotice = {
  [Kind in keyof Happenings]: Happenings[Kind] extends { readonly notice: Notice } ? Kind : never;
}[keyof Happenings];
type Undoable = {
  [Kind in ChangeNotice]: Happenings[Kind] extends { readonly undo: true } ? Kind : never;
}[ChangeNotice];
const isChangeNotice = (kind: string): kind is ChangeNotice =>
  Object.hasOwn(HAPPENINGS, kind) && 'notice' in HAPPENINGS[kind as keyof Happenings];

const HAPPENED = ['time', 'device', 'network'] as const;
const NOTICE = [...HAPPENED, 'resetPage'] as const;
const UNDO = [...HAPPENED, 'undoLink', 'undoUntil'] as const;
/** The ways in that outlive what happened: an attacker may have added them. */
const LEFT = ['passkeys', 'apps', 'signIns'] as const;

type OtherMail = Pick<Happening, 'burst'> & {
  readonly says: readonly string[];
  /** It is a text for some cases of another mail. */
  readonly insteadOf?: string;
  /**
   * Milliseconds between two mails that others may cause. Of links: at most their lifetime, so that the next may be sent when one ends that nobody
   * has used.
   */
  readonly every?: number;
};

const MAILS = {
  'password-reset': { says: ['link', 'validFor'], every: RESET_LIFETIME },
  'email-verification': { says: ['username', 'confirmLink', 'disownLink', 'validFor'], every: MAIL_INTERVAL },
  'login-code': { says: [...HAPPENED, 'code', 'codePage', 'validFor'] },
  /** Somebody has typed the right password on a new device. */
  'new-device-code': { says: [...NOTICE, 'code', 'validFor'] },
  'address-taken': { says: ['resetPage'], burst: 3 },
  /** To an address without an account. */
  invitation: { says: ['link', 'validFor'], every: MAIL_INTERVAL },
  'confirmation-code': { says: [...HAPPENED, 'code', 'validFor'], every: LOGIN_CODE_LIFETIME },
  'email-change': { says: ['username', 'link', 'validFor'] },
  'email-changed': { says: ['username', 'newEmail', 'undoLink', 'undoFor', ...LEFT], burst: 8 },
  /** While an even earlier address can still be restored. */
  'email-changed-again': { says: ['username', 'newEmail'], insteadOf: 'email-changed' },
  'email-change-final': { says: ['username', 'undoUntil'], burst: 8 },
  'email-change-undone': { says: ['username', 'resetPage', ...LEFT] },
  'factors-undone': { says: ['username', 'resetPage', ...LEFT] },
  /** While a former address, or an earlier mail, can undo more. */
  'factors-changed-again': { says: NOTICE, insteadOf: 'new-device' },
  'password-was-reset': { says: [...NOTICE, ...LEFT], burst: 6 },
  /** Together with all that was added before the address was proven. */
  'password-removed': { says: NOTICE },
  /** An imported password, which is longer than one that can be stored. */
  'password-too-long': { says: NOTICE },
  /** It is in a public list of leaked passwords. */
  'password-leaked': { says: NOTICE },
  'new-device': { says: UNDO },
  /** Somebody has typed the right password on a new device, and shown no second factor in time. */
  'second-factor-missing': { says: NOTICE, every: MAIL_INTERVAL },
  /** On a known device. */
  'login-after-failures': { says: NOTICE },
  'token-replayed': { says: NOTICE },
  'device-unproven': { says: NOTICE },
} as const satisfies Readonly<Record<string, OtherMail>>;

export type MailName = ChangeNotice | keyof typeof MAILS;
export const MAIL_NAMES = [...Object.keys(MAILS), ...Object.keys(HAPPENINGS).filter(isChangeNotice)] as MailName[];

/** What the texts of a mail may name, besides the product. */
export type NameIn<Mail extends MailName> = Mail extends keyof typeof MAILS
  ? (typeof MAILS)[Mail]['says'][number]
  : Mail extends Undoable
    ? (typeof UNDO)[number]
    : (typeof NOTICE)[number];
export const namesIn = (mail: MailName): readonly string[] => {
  if (!isChangeNotice(mail)) return MAILS[mail].says;
  return 'undo' in HAPPENINGS[mail] ? UNDO : NOTICE;
};

/** Mails that are a message of their own. */
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

export const limitsOf = (kind: SentMail): { readonly burst?: number; readonly every?: number } =>
  Object(isChangeNotice(kind) ? HAPPENINGS[kind] : MAILS[kind]);
