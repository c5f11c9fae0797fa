/** Limits and canonical forms of usernames and email addresses. A user logs in with either (ADR 0004). */

export const USERNAME_MIN_LENGTH = 3;
export const USERNAME_MAX_LENGTH = 32;
/** Excludes `@`, so that a username is never an email address. */
export const USERNAME_PATTERN = /^[A-Za-z0-9._-]*$/;

/** RFC 5321 §4.5.3.1.3: a path of 256 octets, less its two angle brackets. */
export const EMAIL_MAX_LENGTH = 254;
/**
 * A dot-atom local part of at most 64 octets (RFC 5321 §4.5.3.1.1) at a domain name of at least two labels (RFC 1035 §2.3.4).
 * No part can match the same text in two ways, so matching takes linear time.
 */
export const EMAIL_PATTERN =
  /^(?=[^@]{1,64}@)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$/;

export const ACCOUNT_MAX_LENGTH = Math.max(USERNAME_MAX_LENGTH, EMAIL_MAX_LENGTH);

/** The form in which a username is compared and unique. */
export const canonicalUsername = (username: string): string => username.toLowerCase();

/** The form in which an email address is stored, compared and unique. */
export const canonicalEmail = (email: string): string => email.trim().toLowerCase();

/** The same text for every spelling of an account name. Failed log-ins are counted by it. */
export const canonicalAccount = (account: string): string =>
  accountKind(account) === 'email' ? canonicalEmail(account) : canonicalUsername(account);

/** Whether an account is given by email address or by username: only an email address contains `@`. */
export const accountKind = (account: string): 'email' | 'username' => (account.includes('@') ? 'email' : 'username');
