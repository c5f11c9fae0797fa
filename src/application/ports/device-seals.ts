/** What a seal is for. It is worthless for anything else. */
export type SealPurpose =
  /** Lets the browser that opened a session register a key. */
  | 'registration'
  /** What the browser signs. */
  | 'challenge'
  /** Names the browser's own session, and the key that it has registered. */
  | 'browser'
  /** Shows for minutes that the browser has the key. */
  | 'cookie'
  /** What an authenticator signs when it makes a passkey: of its user, in the session of the request. */
  | 'passkey-registration'
  /** What an authenticator signs when it uses one: of any user, in no session. */
  | 'passkey-use'
  /** Shows for minutes that a user has shown the password, and has to show the second factor. */
  | 'login-pending'
  /** Names a device on which a user need not show the second factor. */
  | 'remembered-device';

export type Sealed = {
  readonly purpose: SealPurpose;
  /** Empty when nobody is known yet, as is the session. */
  readonly userId: string;
  readonly sessionId: string;
  /** Up to 100 letters, digits, dots, underscores and hyphens. */
  readonly value: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
};

/**
 * Seals what a browser gets and sends back, so that nothing has to be stored. Anyone can read a seal, and nobody else can make one.
 * - opens what another instance with the same key has sealed
 * - makes a text of at most 300 letters, digits, dots, underscores and hyphens
 * - opens a seal for its purpose alone
 * - opens a seal until it expires
 * - does not open a text that was changed in any part
 * - does not open what another key has sealed
 * - does not open a text that is no seal
 */
export interface DeviceSeals {
  seal(content: Sealed): string;
  /** @param now epoch milliseconds. @returns `null` for anything but a live seal of this purpose. */
  open(text: string, purpose: SealPurpose, now: number): Sealed | null;
}
