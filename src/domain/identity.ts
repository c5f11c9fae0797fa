import { accountKind, canonicalEmail, isAccountName } from './user.ts';

/** Identifies a user at a provider for ever. An email address may get another owner, a subject never does (OpenID Connect Core §2). */
export type IdentityKey = {
  /** The claim `iss`. For GitHub, which has no claims, a text of the configuration. */
  readonly issuer: string;
  /** The claim `sub`. For GitHub, the id of the user. */
  readonly subject: string;
};

/** OpenID Connect Core §2: a subject has up to 255 ASCII characters. Issuers get the same limit. */
export const isIdentityKey = (key: IdentityKey): boolean =>
  [key.issuer, key.subject].every((text) => /^[\x20-\x7e]{1,255}$/.test(text));

/** An identity that is linked to a user, who logs in with it. */
export type Identity = IdentityKey & {
  readonly id: string;
  readonly userId: string;
  /** The name of the provider in the configuration, such as `google`. */
  readonly provider: string;
  /** The last address that the provider stated. It is only shown, and not used to find the user. */
  readonly email: string | null;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
};

/** The verified statement of a provider about the user who has logged in there. */
export type VerifiedIdentity = IdentityKey & {
  readonly provider: string;
  readonly email: string | null;
  /** Whether the provider has verified the address, and is trusted in that. */
  readonly isEmailVerified: boolean;
};

export const IDENTITIES_PER_USER = 20;

/**
 * The canonical address of an identity; `null` if no account could have it. The check comes before the change to lower case, which turns some letters
 * into ASCII ones (`\u212a` into `k`), and so the address into that of another mailbox.
 */
export const addressOf = ({ email }: Pick<VerifiedIdentity, 'email'>): string | null =>
  email !== null && accountKind(email) === 'email' && isAccountName(email) ? canonicalEmail(email) : null;

/** Mail domains that a provider hosts itself: a user who logs in at the provider can also read the mail. */
const HOSTED_DOMAINS: Readonly<Record<string, readonly string[]>> = {
  'https://accounts.google.com': ['gmail.com', 'googlemail.com'],
  'https://appleid.apple.com': ['icloud.com', 'me.com', 'mac.com', 'privaterelay.appleid.com'],
};

export const hostsMailbox = ({ issuer, email }: Pick<VerifiedIdentity, 'issuer' | 'email'>): boolean =>
  HOSTED_DOMAINS[issuer]?.some((domain) => addressOf({ email })?.endsWith(`@${domain}`)) ?? false;

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
