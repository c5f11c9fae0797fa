import { EMAIL_LINK_LIFETIME, type Link, type LinkPurpose, RESET_LIFETIME } from '../../domain/link.ts';
import type { Message, MessageKind, RequestKind } from '../../domain/message.ts';
import type { User } from '../../domain/user.ts';
import {
  addressTaken,
  confirmEmailChange,
  emailChanged,
  emailChangedAgain,
  emailChangeFinal,
  emailChangeUndone,
  verifyEmail,
} from './address-mails.ts';
import type { MailContext, MailText } from './layout.ts';
import {
  type FactorsLeft,
  NOTICE_TEXTS,
  type NoticeKind,
  noticeMail,
  passwordReset,
  passwordWasReset,
} from './security-mails.ts';

export type WantedLink = Pick<Link, 'purpose' | 'email'> &
  (
    | {
        /** Milliseconds after it is made. */
        readonly lifetime: number;
      }
    | Pick<Link, 'expiresAt'>
  );

/** A mail whose links are not made yet. */
type MailTemplate = {
  readonly links: readonly WantedLink[];
  /** @param urlOf returns the URL of one of `links`. */
  readonly write: (urlOf: (purpose: LinkPurpose) => string) => MailText;
};

/** The kinds that are sent. A request becomes one of them once its user is known. */
type SentKind = Exclude<MessageKind, RequestKind>;
export type SentMessage = Message & { readonly kind: SentKind };

/** What else a user has, when the message is sent. */
export type Held = {
  /** The live ones. */
  readonly links: readonly Link[];
  readonly factors: () => Promise<FactorsLeft>;
};

type Composed = MailTemplate | null;
type Compose = (message: Message, user: User, context: MailContext, held: Held) => Composed | Promise<Composed>;

/** @returns `null` when the message is out of date. */
export const templateFor = async (
  message: SentMessage,
  user: User,
  context: MailContext,
  held: Held,
): Promise<Composed> => {
  const { kind } = message;
  // A notice goes to the address that the account had when it happened: an attacker may have changed it since.
  if (isNotice(kind)) return { links: [], write: () => noticeMail(context, kind, timeAndDeviceOf(message)) };
  return TEMPLATES[kind](message, user, context, held);
};

const isNotice = (kind: SentKind): kind is NoticeKind => Object.hasOwn(NOTICE_TEXTS, kind);

const timeAndDeviceOf = ({ createdAt: at, origin: device }: Message) => ({ at, device });

const TEMPLATES: Readonly<Record<Exclude<SentKind, NoticeKind>, Compose>> = {
  /** Not for a disabled account, which refuses every password. */
  'password-reset': ({ to }, { email, disabledAt }, context) =>
    email !== to || disabledAt !== null
      ? null
      : {
          links: [{ purpose: 'password-reset', email: to, lifetime: RESET_LIFETIME }],
          write: (urlOf) => passwordReset(context, { link: urlOf('password-reset'), validFor: RESET_LIFETIME }),
        },
  /** Not for a disabled account: its user could delete it, and the events that led to the ban, with the second link. */
  'email-verification': ({ to }, user, context) =>
    user.email !== to || user.emailVerifiedAt !== null || user.disabledAt !== null
      ? null
      : {
          links: [
            { purpose: 'email-verification', email: to, lifetime: EMAIL_LINK_LIFETIME },
            { purpose: 'not-me', email: to, lifetime: EMAIL_LINK_LIFETIME },
          ],
          write: (urlOf) =>
            verifyEmail(context, {
              username: user.username,
              confirmLink: urlOf('email-verification'),
              disownLink: urlOf('not-me'),
              validFor: EMAIL_LINK_LIFETIME,
            }),
        },
  'address-taken': ({ to }, { email }, context) =>
    email === to ? { links: [], write: () => addressTaken(context) } : null,
  'email-change': ({ to }, { username, email, disabledAt }, context) =>
    email === to || disabledAt !== null
      ? null
      : {
          links: [{ purpose: 'email-change', email: to, lifetime: EMAIL_LINK_LIFETIME }],
          write: (urlOf) =>
            confirmEmailChange(context, { username, link: urlOf('email-change'), validFor: EMAIL_LINK_LIFETIME }),
        },
  'email-changed': (message, user, context, { links }) => {
    const { to, email: newEmail } = message;
    if (user.email === to) return null;
    const changed = { username: user.username, newEmail: newEmail ?? user.email };
    // Otherwise an attacker could change the address twice, and so replace the owner's link.
    const undo = links.find(({ purpose }) => purpose === 'email-change-undo');
    if (undo?.email !== to) return { links: [], write: () => emailChangedAgain(context, changed) };
    // A password reset may have shortened the right to undo since the message was added.
    const { createdAt, expiresAt } = undo;
    return {
      links: [{ purpose: 'email-change-undo', email: to, expiresAt }],
      write: (urlOf) =>
        emailChanged(context, {
          ...changed,
          undoLink: urlOf('email-change-undo'),
          undoFor: expiresAt - createdAt,
        }),
    };
  },
  /** To the former and to the new address. */
  'email-change-final': (_message, { username }, context, { links }) => {
    const undo = links.find(({ purpose }) => purpose === 'email-change-undo');
    if (undo === undefined) return null;
    return { links: [], write: () => emailChangeFinal(context, { username, undoUntil: undo.expiresAt }) };
  },
  'email-change-undone': (_message, { username }, context) => ({
    links: [],
    write: () => emailChangeUndone(context, { username }),
  }),
  'password-was-reset': async (message, _user, context, { factors }) => {
    const left = await factors();
    return { links: [], write: () => passwordWasReset(context, timeAndDeviceOf(message), left) };
  },
};
