import { accountKind, canonicalEmail, isAccountName } from './user.ts';

/** A user at an OpenID provider. The provider gives the subject to nobody else, and never changes it; an email may change hands. */
export type IdentityKey = {
  /** As in the ID tokens of the provider. */
  readonly issuer: string;
  /** The claim `sub`. */
  readonly subject: string;
};

/** OpenID Connect Core §2: a subject has up to 255 ASCII characters. Issuers are no longer. */
export const isIdentityKey = (key: IdentityKey): boolean =>
  [key.issuer, key.subject].every((text) => /^[\x20-\x7e]{1,255}$/.test(text));

/** With which a user logs in. Times are epoch milliseconds. */
export type Identity = IdentityKey & {
  /** ULID. */
  readonly id: string;
  readonly userId: string;
  /** The name of the provider in the configuration, such as `google`. */
  readonly provider: string;
  /** What the provider said last: to be shown, never to find a user by. */
  readonly email: string | null;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
};

/** What a provider has said, in a message whose signature was verified, about the user who has logged in there. */
export type VerifiedIdentity = IdentityKey & {
  readonly provider: string;
  readonly email: string | null;
  /** Whether the provider says that the address is the user's. */
  readonly isEmailVerified: boolean;
};

export const IDENTITIES_PER_USER = 20;

/**
 * The address of an identity in the form of accounts; `null` if there is none that an account could have. It is judged as it was stated: in lower
 * case, some letters become letters of ASCII (`\u212a`, `k`), and the address that of another mailbox.
 */
export const addressOf = ({ email }: Pick<VerifiedIdentity, 'email'>): string | null =>
  email !== null && accountKind(email) === 'email' && isAccountName(email) ? canonicalEmail(email) : null;

/** The mail domains of providers that host the mailboxes themselves: who is in there reads the mail, too. */
const HOSTED: Readonly<Record<string, readonly string[]>> = {
  'https://accounts.google.com': ['gmail.com', 'googlemail.com'],
  'https://appleid.apple.com': ['icloud.com', 'me.com', 'mac.com', 'privaterelay.appleid.com'],
};

export const hostsMailbox = ({ issuer, email }: Pick<VerifiedIdentity, 'issuer' | 'email'>): boolean =>
  HOSTED[issuer]?.some((domain) => addressOf({ email })?.endsWith(`@${domain}`)) ?? false;

export const newIdentity = (
  { issuer, subject, provider, email }: VerifiedIdentity,
  { id, userId, now }: Pick<Identity, 'id' | 'userId'> & { readonly now: number },
): Identity => ({
  issuer,
  subject,
  id,
  userId,
  provider,
  email: addressOf({ email }),
  createdAt: now,
  lastUsedAt: now,
});
