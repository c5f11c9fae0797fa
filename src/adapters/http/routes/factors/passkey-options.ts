import * as v from 'valibot';
import type { AcceptedPasskeys, PasskeyInvitation } from '../../../../application/factors/manage-passkeys.ts';
import { PASSKEY_ALGORITHMS } from '../../../../domain/passkey.ts';
import { Timestamp } from '../../../json/public-user.ts';
import { EXAMPLE_CREDENTIAL_ID, EXAMPLE_HANDLE } from './passkey-credentials.ts';

/** What browsers make and use passkeys with: the JSON of WebAuthn Level 3 §5.1.8–5.1.11. */

const EXAMPLE_CHALLENGE = 'Li5taXZqNWUuMDFNODA1TTBEUVJOQjdQS1NSRVM3MEs1TUIu';

const Descriptor = v.object({
  type: v.literal('public-key'),
  id: v.string(),
  transports: v.optional(v.array(v.string())),
});

export const CreationOptionsJson = v.pipe(
  v.object({
    rp: v.object({ id: v.string(), name: v.string() }),
    user: v.object({ id: v.string(), name: v.string(), displayName: v.string() }),
    challenge: v.string(),
    pubKeyCredParams: v.array(v.object({ type: v.literal('public-key'), alg: v.number() })),
    timeout: v.number(),
    excludeCredentials: v.array(Descriptor),
    authenticatorSelection: v.object({
      residentKey: v.literal('required'),
      requireResidentKey: v.literal(true),
      userVerification: v.literal('preferred'),
    }),
    attestation: v.literal('none'),
  }),
  v.title('PasskeyCreationOptions'),
  v.examples([
    {
      rp: { id: 'example.org', name: 'Example' },
      user: { id: EXAMPLE_HANDLE, name: 'ada', displayName: 'ada' },
      challenge: EXAMPLE_CHALLENGE,
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      timeout: 300_000,
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
      attestation: 'none',
    },
  ]),
);

export const RequestOptionsJson = v.pipe(
  v.object({
    rpId: v.string(),
    challenge: v.string(),
    timeout: v.number(),
    userVerification: v.literal('preferred'),
    expiresAt: Timestamp,
  }),
  v.title('PasskeyRequestOptions'),
  v.examples([
    {
      rpId: 'example.org',
      challenge: EXAMPLE_CHALLENGE,
      timeout: 300_000,
      userVerification: 'preferred',
      expiresAt: '2026-11-21T23:13:48.407Z',
    },
  ]),
);

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
