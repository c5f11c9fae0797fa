import type { NewCredential, UsedCredential, WebAuthn } from '../../application/ports/webauthn.ts';
import { PASSKEY_ALGORITHMS } from '../../domain/passkey.ts';

/** SimpleWebAuthn has many modules, so it is loaded only when the first passkey is verified. */
const loadLibrary = () => Promise.all([import('@simplewebauthn/server'), import('@simplewebauthn/server/helpers')]);

export const simpleWebAuthn = ({ rpId, origins }: Pick<WebAuthn, 'rpId' | 'origins'>): WebAuthn => {
  const expectedFor = (challenge: string) => ({
    expectedChallenge: Buffer.from(challenge).toString('base64url'),
    expectedOrigin: [...origins],
    expectedRPID: rpId,
    requireUserVerification: false,
  });
  return {
    rpId,
    origins,
    challengeOf: ({ response }) => {
      const challenge = readClientData(response.clientDataJSON)?.challenge;
      return typeof challenge === 'string' ? Buffer.from(challenge, 'base64url').toString() : null;
    },
    async verifyNew(credential, challenge, mediation) {
      const [{ verifyRegistrationResponse }, { decodeAttestationObject, isoBase64URL, isoCBOR }] = await loadLibrary();
      return nullIfRefused(async () => {
        if (isFramed(credential)) return null;
        const decoded = decodeAttestationObject(isoBase64URL.toBuffer(credential.response.attestationObject));
        // Some authenticators send an attestation without being asked. It is replaced by an empty one: SimpleWebAuthn would
        // verify it, and fetch lists of revoked certificates from URLs in it.
        const attestation = { fmt: 'none', attStmt: new Map<string, string>(), authData: decoded.get('authData') };
        const verified = await verifyRegistrationResponse({
          response: {
            ...commonMembersOf(credential),
            response: {
              clientDataJSON: credential.response.clientDataJSON,
              attestationObject: isoBase64URL.fromBuffer(isoCBOR.encode(new Map(Object.entries(attestation)))),
            },
          },
          ...expectedFor(challenge),
          // With `conditional`, a browser may make a passkey without asking the user (WebAuthn Level 3 §7.1).
          requireUserPresence: mediation !== 'conditional',
          supportedAlgorithmIDs: [...PASSKEY_ALGORITHMS],
        });
        if (!verified.verified || verified.registrationInfo.credential.id !== credential.id) return null;
        const { credential: passkey, aaguid, credentialDeviceType, credentialBackedUp } = verified.registrationInfo;
        return {
          credentialId: passkey.id,
          publicKey: Buffer.from(passkey.publicKey).toString('base64url'),
          counter: passkey.counter,
          transports: [...(credential.response.transports ?? [])],
          aaguid,
          isSynced: credentialDeviceType === 'multiDevice',
          isBackedUp: credentialBackedUp,
        };
      });
    },
    async verifyUse(credential, challenge, { credentialId, publicKey, userHandle }) {
      const [{ verifyAuthenticationResponse }] = await loadLibrary();
      return nullIfRefused(async () => {
        if (credential.id !== credentialId || isFramed(credential)) return null;
        const { userHandle: presentedHandle, ...response } = credential.response;
        if ((presentedHandle || userHandle) !== userHandle) return null;
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: { ...commonMembersOf(credential), response },
          ...expectedFor(challenge),
          // The stored counter is not passed: SimpleWebAuthn would refuse a counter that went back, but `usePasskey` only notifies the user of that.
          credential: { id: credentialId, publicKey: Uint8Array.from(Buffer.from(publicKey, 'base64url')), counter: 0 },
        });
        if (!verified) return null;
        const { newCounter, credentialBackedUp, userVerified } = authenticationInfo;
        return { counter: newCounter, isBackedUp: credentialBackedUp, isUserVerified: userVerified };
      });
    },
  };
};

type ClientData = { readonly challenge?: unknown; readonly crossOrigin?: unknown };

const readClientData = (encoded: string): ClientData | null => {
  try {
    const data: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString());
    return typeof data === 'object' ? data : null;
  } catch {
    return null;
  }
};

/** Whether the page that has asked for the passkey is in a frame of another origin, so that the user may not see who asks. */
const isFramed = ({ response }: Pick<NewCredential | UsedCredential, 'response'>): boolean =>
  (readClientData(response.clientDataJSON)?.crossOrigin ?? false) !== false;

/** `null` if the verification throws: SimpleWebAuthn throws errors of many kinds for credentials that it refuses. */
const nullIfRefused = async <Result>(verify: () => Promise<Result | null>): Promise<Result | null> => {
  try {
    return await verify();
  } catch {
    return null;
  }
};

const commonMembersOf = ({ id }: NewCredential | UsedCredential) =>
  ({ type: 'public-key', clientExtensionResults: {}, id, rawId: id }) as const;
