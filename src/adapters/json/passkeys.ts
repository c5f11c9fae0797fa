import * as v from 'valibot';
import type { AcceptedPasskeys, PasskeyRegistration } from '../../application/factors/passkeys.ts';
import { PASSKEY_ALGORITHMS, PASSKEY_NAME_MAX_LENGTH } from '../../domain/passkey.ts';
import { hasHidden } from '../../domain/text.ts';
import type { CreationOptionsJson, RequestOptionsJson } from './factors.ts';
import { textRule } from './fields.ts';

/** The JSON of passkeys (WebAuthn Level 3 §5.1), reduced to the members that this service uses. */

/** Characters of base64url. A credential id has up to 1,023 bytes (§6.5.1). */
const CREDENTIAL_ID_MAX_LENGTH = 1_364;
/** Characters of base64url. A user handle has up to 64 bytes (§5.4.3). */
const HANDLE_MAX_LENGTH = 86;
/** Characters, as many as a whole body may have. */
const MEMBER_MAX_LENGTH = 16_384;
/** WebAuthn Level 3 defines six transports. */
const TRANSPORTS_MAX = 10;

const Base64url = v.pipe(v.string(), v.regex(/^[\w-]*$/, 'must be base64url'));
const base64url = (length: number) => v.pipe(Base64url, v.minLength(1), v.maxLength(length));
/** A handle may be empty: some browsers, such as Safari, send an empty text if there is no user handle. */
const UserHandle = v.pipe(Base64url, v.maxLength(HANDLE_MAX_LENGTH));
const CredentialId = base64url(CREDENTIAL_ID_MAX_LENGTH);
const CredentialMember = base64url(MEMBER_MAX_LENGTH);
const Transport = v.pipe(v.string(), v.regex(/^[a-z-]{1,20}$/, 'must be a transport, such as usb'));

const NewCredential = v.object({
  id: CredentialId,
  response: v.object({
    clientDataJSON: CredentialMember,
    attestationObject: CredentialMember,
    transports: v.optional(v.pipe(v.array(Transport), v.maxLength(TRANSPORTS_MAX))),
  }),
});

export const UsedCredential = v.object({
  id: CredentialId,
  response: v.object({
    clientDataJSON: CredentialMember,
    authenticatorData: CredentialMember,
    signature: CredentialMember,
    userHandle: v.optional(v.nullable(UserHandle)),
  }),
});

const PasskeyName = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1),
  v.maxLength(PASSKEY_NAME_MAX_LENGTH),
  textRule((name) =>
    hasHidden(name) ? { code: 'invalid_characters', message: 'must consist of visible characters' } : null,
  ),
  v.metadata({ jsonSchema: { type: 'string', minLength: 1, maxLength: PASSKEY_NAME_MAX_LENGTH } }),
);

export const NewPasskeyBody = v.object({
  credential: NewCredential,
  name: v.optional(PasskeyName),
  /** The `mediation` of the call of `navigator.credentials.create` that has made the passkey (§5.1.3). */
  mediation: v.optional(v.literal('conditional')),
});

export const PasskeyNameBody = v.object({ name: PasskeyName });

/** The argument of `PublicKeyCredential.signalAllAcceptedCredentials` (§5.1.10.2). */
export const AcceptedPasskeysJson = v.pipe(
  v.object({ rpId: v.string(), userId: v.string(), allAcceptedCredentialIds: v.array(v.string()) }),
  v.title('AcceptedPasskeys'),
);

type RelyingParty = { readonly rpId: string };

/** Milliseconds: five minutes, as §15.1 recommends, and less than the lifetime of a challenge. */
const CEREMONY_TIMEOUT = 300_000;

/** Hints that ask browsers to offer the device itself first, then a phone, then other authenticators. */
const HINTS = ['client-device', 'hybrid'] as const;

const encodeChallenge = (challenge: string): string => Buffer.from(challenge).toString('base64url');

/** The options of `navigator.credentials.create`, as JSON. @param name the product's name, which browsers may show */
export const creationOptions = (
  { rpId, name }: RelyingParty & { readonly name: string },
  { challenge, userHandle, username, existing }: PasskeyRegistration,
): v.InferInput<typeof CreationOptionsJson> => ({
  rp: { id: rpId, name },
  user: { id: userHandle, name: username, displayName: username },
  challenge: encodeChallenge(challenge),
  pubKeyCredParams: PASSKEY_ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
  timeout: CEREMONY_TIMEOUT,
  excludeCredentials: existing.map(({ credentialId, transports }) => ({
    type: 'public-key',
    id: credentialId,
    ...(transports.length > 0 && { transports: [...transports] }),
  })),
  authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
  hints: [...HINTS],
  attestation: 'none',
});

export const requestOptions = (
  { rpId }: RelyingParty,
  { challenge, expiresAt }: { readonly challenge: string; readonly expiresAt: number },
): v.InferInput<typeof RequestOptionsJson> => ({
  rpId,
  challenge: encodeChallenge(challenge),
  timeout: CEREMONY_TIMEOUT,
  userVerification: 'preferred',
  hints: [...HINTS],
  expiresAt,
});

export const acceptedPasskeys = ({ rpId }: RelyingParty, { userHandle, credentialIds }: AcceptedPasskeys) => ({
  rpId,
  userId: userHandle,
  allAcceptedCredentialIds: [...credentialIds],
});
