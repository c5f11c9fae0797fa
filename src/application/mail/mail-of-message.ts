import {
  EMAIL_LINK_LIFETIME,
  FACTOR_UNDOS_KEPT,
  type Link,
  type LinkPurpose,
  RESET_LIFETIME,
  UNDO_LIFETIME,
} from '../../domain/link.ts';
import { LOGIN_CODE_LIFETIME } from '../../domain/login-code.ts';
import type { Message, MessageKind, RequestKind } from '../../domain/message.ts';
import type { User } from '../../domain/user.ts';
import type { LinkVariable, MAIL_VARIABLES, MailName, MailValue } from './kinds.ts';
import { masked } from './write-mail.ts';

export type WantedLink = Pick<Link, 'purpose' | 'email'> & {
  readonly as: LinkVariable;
  readonly since?: number;
} & (
    | {
        /** Milliseconds after it is made. */
        readonly lifetime: number;
      }
    | Pick<Link, 'expiresAt'>
  );

export type ComposedMail = {
  readonly template: MailName;
  readonly values: Readonly<Record<string, MailValue>>;
  readonly links: readonly WantedLink[];
};

/** The kinds that are sent. A request becomes one of them once its user is known. */
type SentKind = Exclude<MessageKind, RequestKind>;
export type SentMessage = Message & { readonly kind: SentKind };

export type FactorsLeft = {
  readonly passkeys: readonly string[];
  readonly apps: number;
};

export type Held = {
  readonly links: readonly Link[];
  readonly factors: () => Promise<FactorsLeft>;
  readonly deviceName: (userAgent: string) => string;
  /** Of a log-in; `null`: it has expired. */
  readonly code: string | null;
};

type Compose = (message: SentMessage, user: User, held: Held) => ComposedMail | null | Promise<ComposedMail | null>;

/** @returns `null` when the message is out of date. */
export const mailOfMessage = async (message: SentMessage, user: User, held: Held): Promise<ComposedMail | null> => {
  const compose = COMPOSE[message.kind] ?? notice;
  return compose(message, user, held);
};

/** A notice goes to the address that the account had when it happened: an attacker may have changed it since. */
const notice: Compose = (message, _user, held) => ({
  template: message.kind,
  values: happened(message, held),
  links: [],
});

type GivenVariable<Name extends MailName> = Exclude<(typeof MAIL_VARIABLES)[Name][number], LinkVariable>;

const mail = <Name extends MailName>(
  template: Name,
  values: Readonly<Record<GivenVariable<Name>, MailValue>>,
  links: readonly WantedLink[] = [],
): ComposedMail => ({ template, values, links });

const happened = ({ createdAt: time, origin: { userAgent, address } }: Message, { deviceName }: Held) => ({
  time: { time },
  device: userAgent === null ? [] : [deviceName(userAgent)],
  network: address ?? '',
});

const linkTo = (
  to: string,
  as: LinkVariable,
  purpose: LinkPurpose,
  lifetime: number = EMAIL_LINK_LIFETIME,
): WantedLink => ({ as, purpose, email: to, lifetime });

type Reach = { readonly until: number; readonly others: readonly Link[] };

/**
 * Until when an address may undo a change of factors, and with which links it may undo other ones; `null`: not at all. A former address may while
 * it can take the account back. An address that the account had in between cannot.
 */
const reachOf = ({ to, createdAt }: SentMessage, { email }: User, { links }: Held): Reach | null => {
  const own = links.filter((link) => link.email === to);
  const others = own.filter(({ purpose, since }) => purpose === 'factors-undo' && since !== createdAt);
  const until = createdAt + UNDO_LIFETIME;
  if (to === email) return { until, others };
  const reservation = own.find(({ purpose }) => purpose === 'email-change-undo');
  return reservation === undefined ? null : { until: Math.min(until, reservation.expiresAt), others };
};

/** With a link that undoes it, and what came after it. */
const factorNotice =
  (
    template:
      | 'passkey-added'
      | 'passkey-removed'
      | 'identity-linked'
      | 'identity-unlinked'
      | 'second-factor-added'
      | 'second-factor-removed'
      | 'recovery-codes-made',
  ): Compose =>
  (message, user, held) => {
    const reach = reachOf(message, user, held);
    // The first links stay, since each undoes all that came after it: an attacker could have any number of them made.
    if (reach === null || reach.others.length >= FACTOR_UNDOS_KEPT)
      return mail('factors-changed-again', happened(message, held));
    const { to: email, createdAt: since } = message;
    const link = { as: 'undoLink', purpose: 'factors-undo', email, since, expiresAt: reach.until } as const;
    return mail(template, { ...happened(message, held), undoUntil: { time: reach.until } }, [link]);
  };

/** The kinds that say more than what happened, when and where. */
const COMPOSE: Readonly<Partial<Record<SentKind, Compose>>> = {
  /** Not for a disabled account, which refuses every password. */
  'password-reset': ({ to }, { email, disabledAt }) => {
    if (email !== to || disabledAt !== null) return null;
    const link = linkTo(to, 'link', 'password-reset', RESET_LIFETIME);
    return mail('password-reset', { validFor: { duration: RESET_LIFETIME } }, [link]);
  },
  /** Not for a disabled account: its user could delete it, and the events that led to the ban, with the second link. */
  'email-verification': ({ to }, { username, email, emailVerifiedAt, disabledAt }) => {
    if (email !== to || emailVerifiedAt !== null || disabledAt !== null) return null;
    const links = [linkTo(to, 'confirmLink', 'email-verification'), linkTo(to, 'disownLink', 'not-me')];
    return mail('email-verification', { username, validFor: { duration: EMAIL_LINK_LIFETIME } }, links);
  },
  /** Not for a disabled account, which refuses every log-in. */
  'login-code': (message, { disabledAt }, held) => {
    if (held.code === null || disabledAt !== null) return null;
    const validFor = { duration: LOGIN_CODE_LIFETIME };
    return mail('login-code', { ...happened(message, held), code: held.code, validFor });
  },
  'address-taken': ({ to }, { email }) => (email === to ? mail('address-taken', {}) : null),
  'email-change': ({ to }, { username, email, disabledAt }) => {
    if (email === to || disabledAt !== null) return null;
    const link = linkTo(to, 'link', 'email-change');
    return mail('email-change', { username, validFor: { duration: EMAIL_LINK_LIFETIME } }, [link]);
  },
  'email-changed': ({ to, email }, user, { links }) => {
    if (user.email === to) return null;
    const changed = { username: user.username, newEmail: masked(email ?? user.email) };
    // Otherwise an attacker could change the address twice, and so replace the owner's link.
    const undo = links.find(({ purpose }) => purpose === 'email-change-undo');
    if (undo?.email !== to) return mail('email-changed-again', changed);
    const { since, createdAt, expiresAt } = undo;
    const link = { as: 'undoLink', purpose: 'email-change-undo', email: to, since, expiresAt } as const;
    return mail('email-changed', { ...changed, undoFor: { duration: expiresAt - createdAt } }, [link]);
  },
  /** To the former and to the new address. */
  'email-change-final': (_message, { username }, { links }) => {
    const undo = links.find(({ purpose }) => purpose === 'email-change-undo');
    return undo === undefined ? null : mail('email-change-final', { username, undoUntil: { time: undo.expiresAt } });
  },
  'email-change-undone': (_message, { username }) => mail('email-change-undone', { username }),
  'passkey-added': factorNotice('passkey-added'),
  'passkey-removed': factorNotice('passkey-removed'),
  'identity-linked': factorNotice('identity-linked'),
  'identity-unlinked': factorNotice('identity-unlinked'),
  'second-factor-added': factorNotice('second-factor-added'),
  'second-factor-removed': factorNotice('second-factor-removed'),
  'recovery-codes-made': factorNotice('recovery-codes-made'),
  'factors-undone': async (_message, { username }, held) => {
    const { passkeys, apps } = await held.factors();
    return mail('factors-undone', { username, passkeys, apps: `${apps}` });
  },
  'password-was-reset': async (message, _user, held) => {
    const { passkeys, apps } = await held.factors();
    if (passkeys.length + apps === 0) return mail('password-was-reset', happened(message, held));
    return mail('password-was-reset-factors', { ...happened(message, held), passkeys, apps: `${apps}` });
  },
};
