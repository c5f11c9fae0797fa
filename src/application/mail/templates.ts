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
import { newDevice, passwordChanged, passwordReset, passwordWasReset, tokenReplayed } from './security-mails.ts';

/** A link that a letter needs. */
export type WantedLink = Pick<Link, 'purpose' | 'email'> &
  (
    | {
        /** Milliseconds from when it is made. */
        readonly lifetime: number;
      }
    | Pick<Link, 'expiresAt'>
  );

/** A message before its links are made. */
export type Letter = {
  readonly links: readonly WantedLink[];
  /** @param addressOf the address of a link of this letter. */
  readonly write: (addressOf: (purpose: LinkPurpose) => string) => MailText;
};

/** What a message becomes once it is known whose it is. */
type SentKind = Exclude<MessageKind, RequestKind>;
export type SentMessage = Message & { readonly kind: SentKind };

type Compose = (message: Message, user: User, context: MailContext, live: readonly Link[]) => Letter | null;

/** @param live the live links of the user. @returns `null` when there is nothing to tell any more. */
export const letterFor = (
  message: SentMessage,
  user: User,
  context: MailContext,
  live: readonly Link[],
): Letter | null => LETTERS[message.kind](message, user, context, live);

/** A notice tells what happened, to the address that the account had then: an attacker may have changed it since. */
const notice =
  (write: (context: MailContext, happened: ReturnType<typeof happenedIn>) => MailText): Compose =>
  (message, _user, context) => ({ links: [], write: () => write(context, happenedIn(message)) });

const happenedIn = ({ createdAt: at, origin: device }: Message) => ({ at, device });

const LETTERS: Readonly<Record<SentKind, Compose>> = {
  /** Nothing for a disabled account: its owner could not log in with a new password either. */
  'password-reset': ({ to }, { email, disabledAt }, context) =>
    email !== to || disabledAt !== null
      ? null
      : {
          links: [{ purpose: 'password-reset', email: to, lifetime: RESET_LIFETIME }],
          write: (addressOf) => passwordReset(context, { link: addressOf('password-reset'), validFor: RESET_LIFETIME }),
        },
  /** Nothing for a disabled account: with the second link, whoever was shut out would delete the story of the account. */
  'email-verification': ({ to }, user, context) =>
    user.email !== to || user.emailVerifiedAt !== null || user.disabledAt !== null
      ? null
      : {
          links: [
            { purpose: 'email-verification', email: to, lifetime: EMAIL_LINK_LIFETIME },
            { purpose: 'not-me', email: to, lifetime: EMAIL_LINK_LIFETIME },
          ],
          write: (addressOf) =>
            verifyEmail(context, {
              username: user.username,
              confirmLink: addressOf('email-verification'),
              disownLink: addressOf('not-me'),
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
          write: (addressOf) =>
            confirmEmailChange(context, { username, link: addressOf('email-change'), validFor: EMAIL_LINK_LIFETIME }),
        },
  'email-changed': (message, user, context, live) => {
    const { to, email: newEmail } = message;
    if (user.email === to) return null;
    const changed = { username: user.username, newEmail: newEmail ?? user.email };
    // Whoever took an account over would else change the address twice, and so replace the link of its owner.
    const held = live.find(({ purpose }) => purpose === 'email-change-undo');
    if (held?.email !== to) return { links: [], write: () => emailChangedAgain(context, changed) };
    // Its mail may be sent late: a reset of the password may have ended the right to undo sooner meanwhile.
    const { createdAt, expiresAt } = held;
    return {
      links: [{ purpose: 'email-change-undo', email: to, expiresAt }],
      write: (addressOf) =>
        emailChanged(context, {
          ...changed,
          undoLink: addressOf('email-change-undo'),
          undoFor: expiresAt - createdAt,
        }),
    };
  },
  /** To the former and to the new address. */
  'email-change-final': (_message, { username }, context, live) => {
    const undo = live.find(({ purpose }) => purpose === 'email-change-undo');
    if (undo === undefined) return null;
    return { links: [], write: () => emailChangeFinal(context, { username, undoUntil: undo.expiresAt }) };
  },
  'email-change-undone': (_message, { username }, context) => ({
    links: [],
    write: () => emailChangeUndone(context, { username }),
  }),
  'password-changed': notice(passwordChanged),
  'password-was-reset': notice(passwordWasReset),
  'new-device': notice(newDevice),
  'token-replayed': notice(tokenReplayed),
};
