import type { Passkey, PasskeyState } from '../../domain/passkey.ts';

/** The members of a `RegistrationResponseJSON` (WebAuthn Level 3) of which the service makes use. */
export type NewCredential = {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[] | undefined;
  };
};

/** The members of an `AuthenticationResponseJSON` (WebAuthn Level 3) of which the service makes use. */
export type UsedCredential = {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle?: string | null | undefined;
  };
};

export type VerifiedCredential = Pick<
  Passkey,
  'credentialId' | 'publicKey' | 'counter' | 'transports' | 'aaguid' | 'isSynced' | 'isBackedUp'
>;

/** How a browser has made a passkey. `conditional`: without asking the user, after a log-in with a stored password. */
export type CreationMediation = 'conditional' | undefined;

export type VerifiedUse = PasskeyState & {
  /** Whether the authenticator has verified its user, for example by a PIN or a finger. */
  readonly isUserVerified: boolean;
};

/**
 * Verifies what browsers send of passkeys, for one relying party and its origins. Throws no error because of that content, but returns `null`.
 * - returns the challenge that a credential answers
 * - returns what the authenticator says of a new passkey
 * - says whether the authenticator has verified its user
 * - says whether a passkey is synced, and whether it is backed up
 * - returns the counter of a use, also when it went back
 * - rejects an answer to another challenge
 * - rejects an answer that was given to another origin, or in a frame of another origin
 * - rejects an answer for another relying party
 * - rejects an answer without the presence of a user
 * - accepts a new passkey without the presence of a user if the browser has made it without asking
 * - rejects a registration as a use, and vice versa
 * - rejects a use that another key has signed, or that was changed in any part
 * - rejects a use with the handle of another user, and accepts an empty handle
 * - rejects a new credential under another id than that of its authenticator
 * - ignores the statement of an attestation, since the options ask for none
 * - rejects what cannot be read
 */
export interface WebAuthn {
  /** The id of the relying party, for the options of browsers. */
  readonly rpId: string;
  readonly origins: readonly string[];
  /** The challenge of an unverified credential, decoded from base64url; `null` if it cannot be read. */
  challengeOf(credential: Pick<NewCredential | UsedCredential, 'response'>): string | null;
  /** @param challenge as `challengeOf` returns it. */
  verifyNew(
    credential: NewCredential,
    challenge: string,
    mediation?: CreationMediation,
  ): Promise<VerifiedCredential | null>;
  verifyUse(
    credential: UsedCredential,
    challenge: string,
    passkey: Pick<Passkey, 'credentialId' | 'publicKey' | 'userHandle'>,
  ): Promise<VerifiedUse | null>;
}
