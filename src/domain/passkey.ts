/** A key with which a user logs in without a password, or after it as the second factor (WebAuthn Level 3). */
export type Passkey = {
  readonly id: string;
  readonly userId: string;
  /** The id that the authenticator has chosen, in base64url. */
  readonly credentialId: string;
  readonly publicKey: string;
  /** The id of the user for authenticators: 32 random bytes in base64url, the same for all passkeys of the user. */
  readonly userHandle: string;
  /** The greatest signature counter that the authenticator has sent; 0 if it does not count. */
  readonly counter: number;
  /** How browsers reach the authenticator, such as `internal` or `usb`. */
  readonly transports: readonly string[];
  /** The model of the authenticator, as a UUID; zeros if unknown. */
  readonly aaguid: string;
  /** Whether the passkey may be copied to other devices of the user (backup eligibility). This never changes. */
  readonly isSynced: boolean;
  readonly isBackedUp: boolean;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
};

export type PasskeyKey = Pick<Passkey, 'id' | 'userId'>;

export type PasskeyState = Pick<Passkey, 'counter' | 'isBackedUp'>;

export const PASSKEYS_PER_USER = 50;

/** EdDSA, ES256, RS256 (RFC 9053, RFC 8812), the preferred one first. */
export const PASSKEY_ALGORITHMS: readonly number[] = [-8, -7, -257];

export const PASSKEY_NAME_MAX_LENGTH = 64;

/** Milliseconds in which a user has to answer a challenge: the user may first have to find a security key or a telephone. */
export const CHALLENGE_LIFETIME = 10 * 60_000;

/** Common authenticators (https://github.com/passkeydeveloper/passkey-authenticator-aaguids). */
const MODELS: ReadonlyMap<string, string> = new Map([
  ['fbfc3007-154e-4ecc-8c0b-6e020557d7bd', 'Apple Passwords'],
  ['dd4ec289-e01d-41c9-bb89-70fa845d4bf2', 'Apple Passwords'],
  ['ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4', 'Google Password Manager'],
  ['adce0002-35bc-c60a-648b-0b25f1f05503', 'Chrome on Mac'],
  ['08987058-cadc-4b81-b6e1-30de50dcbe96', 'Windows Hello'],
  ['9ddd1817-af5a-4672-a2b9-3e3dd95000a9', 'Windows Hello'],
  ['6028b017-b1d4-4c02-b4b3-afcdafc96bb2', 'Windows Hello'],
  ['53414d53-554e-4700-0000-000000000000', 'Samsung Pass'],
  ['bada5566-a7aa-401f-bd96-45619a55120d', '1Password'],
  ['d548826e-79b4-db40-a3d8-11116f7e8349', 'Bitwarden'],
  ['531126d6-e717-415c-9320-3d9aa6981239', 'Dashlane'],
  ['50726f74-6f6e-5061-7373-50726f746f6e', 'Proton Pass'],
  ['fdb141b2-5d84-443e-8a35-4698c205a502', 'KeePassXC'],
]);

export const defaultPasskeyName = (aaguid: string): string => MODELS.get(aaguid) ?? 'Passkey';

/** Whether the counter did not grow, so that there may be a copy of the key (WebAuthn Level 3 §6.1.1). Copies of synced passkeys are not suspicious. */
export const isCopySuspected = (
  { isSynced, counter }: Pick<Passkey, 'isSynced' | 'counter'>,
  { counter: presented }: Pick<PasskeyState, 'counter'>,
): boolean => !isSynced && (counter > 0 || presented > 0) && presented <= counter;
