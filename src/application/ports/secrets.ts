/** The purpose of a signed value, which is worthless for any other purpose. */
export type SignedPurpose =
  /** Lets the browser that opened a session register a key. */
  | 'registration'
  | 'challenge'
  /** Identifies the session of a browser, and the key that the browser has registered. */
  | 'browser'
  /** Shows for ten minutes that the browser has the key of its session. */
  | 'cookie'
  | 'passkey-registration'
  /** The challenge for a passkey of any user. */
  | 'passkey-use'
  /** Represents a pending log-in for five minutes. */
  | 'login-pending'
  /** Lets an app open a session beside that of the browser. */
  | 'app-code'
  /** Lets an operator into the back office, in the browser that has begun the log-in. */
  | 'office-code'
  /** Identifies the session of a visitor of the back office. */
  | 'office'
  /** A code by mail for a log-in is derived from the signed value, which is never sent. */
  | 'login-code'
  /** The hash of a code that confirms a change is derived from the signed value, which is never sent. */
  | 'confirmation-code'
  /** Identifies a `RememberedDevice`. */
  | 'remembered-device'
  /** Proves for ten minutes that a page of the service has the key of the session. */
  | 'page-visitor'
  /** Lets an application bind a session that was opened at a page of the service, or at a provider, to its own key. */
  | 'binding-code';

export type SignedValue = {
  readonly purpose: SignedPurpose;
  /** Empty if no user is known. */
  readonly userId: string;
  /** The id of the session, or of what the purpose is about instead, such as a remembered device. May be empty. */
  readonly sessionId: string;
  /** Up to 100 letters, digits, dots, underscores and hyphens. */
  readonly value: string;
  readonly expiresAt: number;
};

/** Encrypts the secrets of authenticator apps in the database. */
export type FactorSecrets = {
  /** @returns another text each time. */
  encrypt(secret: string, userId: string): string;
  /** @returns `null` for a changed text, another user, or an unknown key. */
  decrypt(text: string, userId: string): string | null;
  /** Whether the text was encrypted with the current key. */
  isCurrent(text: string): boolean;
};

export type Secrets = {
  /** 256 random bits: 43 characters of base64url. */
  random(): string;
  /** SHA-256 in base64url. For a random secret, it is stored instead of the secret. */
  hashOf(secret: string): string;
  /**
   * Signs a value. A client may keep the text for the service, and can read the value in it. All instances accept the text.
   * @returns at most 300 letters, digits, dots, underscores and hyphens.
   */
  sign(value: SignedValue): string;
  /** @param now epoch milliseconds. @returns `null` unless the text is a live signed value of this purpose. */
  unsign(text: string, purpose: SignedPurpose, now: number): SignedValue | null;
  /** Encrypts a text that a browser keeps. All instances can decrypt it. @param expiresAt epoch milliseconds. */
  encrypt(text: string, expiresAt: number): string;
  /** @returns `null` unless the service has encrypted the text, and it has not expired. */
  decrypt(text: string, now: number): string | null;
  /** Six digits (RFC 6238). @param secret in Base32 (RFC 4648 §6), without padding. @param step the number of periods since 1970. */
  oneTimePassword(secret: string, step: number): string;
  /** `null` if the service has no keys to encrypt with. Then there are no routes for authenticator apps. */
  readonly factors: FactorSecrets | null;
};

export type RandomSecrets = Pick<Secrets, 'random' | 'hashOf'>;
