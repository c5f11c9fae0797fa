import * as v from 'valibot';
import type { AcceptedPasskeys, PasskeyInvitation } from '../../../../application/factors/manage-passkeys.ts';
import { PASSKEY_ALGORITHMS } from '../../../../domain/passkey.ts';
import {
  type CreationOptionsJson,
  EXAMPLE_CREDENTIAL_ID,
  EXAMPLE_HANDLE,
  type RequestOptionsJson,
} from '../../../json/factors.ts';

/** What browsers make and use passkeys with: the JSON of WebAuthn Level 3 §5.1.8–5.1.11. */

/** The argument of `PublicKeyCredential.signalAllAcceptedCredentials` (§5.1.10.2). */
export const AcceptedPasskeysJson = v.pipe(
  v.object({ rpId: v.string(), userId: v.string(), allAcceptedCredentialIds: v.array(v.string()) }),
  v.title('AcceptedPasskeys'),
  v.examples([{ rpId: 'example.org', userId: EXAMPLE_HANDLE, allAcceptedCredentialIds: [EXAMPLE_CREDENTIAL_ID] }]),
);

type RelyingParty = { readonly rpId: string };

/** Milliseconds: five minutes (§15.1), less than a challenge is good for. */
const TIMEOUT = 300_000;

const encoded = (challenge: string): string => Buffer.from(challenge).toString('base64url');

/** @param name of the product, for people. */
export const creationOptions = (
  { rpId, name }: RelyingParty & { readonly name: string },
  { challenge, userHandle, username, existing }: PasskeyInvitation,
): v.InferInput<typeof CreationOptionsJson> => ({
  rp: { id: rpId, name },
  user: { id: userHandle, name: username, displayName: username },
  challenge: encoded(challenge),
  pubKeyCredParams: PASSKEY_ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
  timeout: TIMEOUT,
  excludeCredentials: existing.map(({ credentialId, transports }) => ({
    type: 'public-key',
    id: credentialId,
    ...(transports.length > 0 && { transports: [...transports] }),
  })),
  authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
  attestation: 'none',
});

export const requestOptions = (
  { rpId }: RelyingParty,
  { challenge, expiresAt }: { readonly challenge: string; readonly expiresAt: number },
): v.InferInput<typeof RequestOptionsJson> => ({
  rpId,
  challenge: encoded(challenge),
  timeout: TIMEOUT,
  userVerification: 'preferred',
  expiresAt,
});

export const acceptedPasskeys = (
  { rpId }: RelyingParty,
  { userHandle, credentialIds }: AcceptedPasskeys,
): v.InferInput<typeof AcceptedPasskeysJson> => ({
  rpId,
  userId: userHandle,
  allAcceptedCredentialIds: [...credentialIds],
});
