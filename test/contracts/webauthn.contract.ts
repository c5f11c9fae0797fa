import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'vitest';
import type { NewCredential, UsedCredential, WebAuthn } from '../../src/application/ports/webauthn.ts';
import { type Authenticator, type AuthenticatorOptions, authenticator } from '../support/authenticator.ts';
import { vitestSuite } from './suite.ts';

const CHALLENGE = 'user.session.expiry.value.mac';
/** The service, and an application at another host. */
const ORIGINS = ['https://auth.example.org', 'https://app.example.org'] as const;
const RP = { rpId: 'example.org', origins: ORIGINS };
const HANDLE = 'aGFuZGxl'.repeat(4);
const OPTIONS = { challenge: Buffer.from(CHALLENGE).toString('base64url') };

const newKey = (given: AuthenticatorOptions = {}) =>
  authenticator({ rpId: RP.rpId, origin: ORIGINS[0], userHandle: HANDLE, ...given });

/** A text of base64url with another character at a place. */
const changedAt = (text: string, at: number): string =>
  `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;

/** @param make makes what verifies the passkeys of a relying party. */
export const describeWebAuthn = (
  name: string,
  make: (party: Pick<WebAuthn, 'rpId' | 'origins'>) => WebAuthn,
  { describe, it } = vitestSuite,
): void => {
  const verifyNew = (credential: NewCredential, challenge = CHALLENGE) => make(RP).verifyNew(credential, challenge);
  /** A passkey as it is stored after its registration. */
  const stored = async (key: Authenticator) => {
    const verified = await verifyNew(key.create(OPTIONS));
    if (verified === null) expect.unreachable('the registration should have been accepted');
    return { ...verified, userHandle: HANDLE };
  };
  const verifyUse = async (
    key: Authenticator,
    credential: UsedCredential,
    { challenge = CHALLENGE, userHandle = HANDLE } = {},
  ) => make(RP).verifyUse(credential, challenge, { ...(await stored(key)), userHandle });

  /** Expects that neither a registration nor a use is accepted whose authenticator or browser does this instead. */
  const expectRejected = async (given: AuthenticatorOptions) => {
    const key = newKey();
    expect(await verifyNew(key.create(OPTIONS, given)), JSON.stringify(given)).toBeNull();
    expect(await verifyUse(key, key.get(OPTIONS, given)), JSON.stringify(given)).toBeNull();
  };

  describe(`${name} as WebAuthn`, () => {
    it('returns the challenge that a credential answers', () => {
      const key = newKey();
      for (const credential of [key.create(OPTIONS), key.get(OPTIONS)])
        expect(make(RP).challengeOf(credential)).toBe(CHALLENGE);
      expect(make(RP)).toMatchObject(RP);
    });

    it('returns what the authenticator says of a new passkey', async () => {
      const key = newKey({ aaguid: 'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4', counter: 7 });
      for (const origin of ORIGINS) {
        const verified = await verifyNew(key.create(OPTIONS, { origin }));
        expect(verified).toEqual({
          credentialId: key.id,
          publicKey: expect.stringMatching(/^[\w-]{100,}$/),
          counter: 7,
          transports: ['internal'],
          aaguid: 'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4',
          isSynced: false,
          isBackedUp: false,
        });
      }
    });

    it('says whether the authenticator has verified its user', async () => {
      const key = newKey();
      for (const isUserVerified of [true, false]) {
        expect(await verifyNew(key.create(OPTIONS, { isUserVerified }))).not.toBeNull();
        expect(await verifyUse(key, key.get(OPTIONS, { isUserVerified }))).toMatchObject({ isUserVerified });
      }
    });

    it('says whether a passkey is synced, and whether it is backed up', async () => {
      const key = newKey();
      const states = [
        { isSynced: false, isBackedUp: false },
        { isSynced: true, isBackedUp: false },
        { isSynced: true, isBackedUp: true },
      ];
      for (const state of states) {
        expect(await verifyNew(key.create(OPTIONS, state))).toMatchObject(state);
        const { isBackedUp } = state;
        expect(await verifyUse(key, key.get(OPTIONS, state))).toMatchObject({ isBackedUp });
      }
      expect(await verifyNew(key.create(OPTIONS, { isSynced: false, isBackedUp: true }))).toBeNull();
    });

    it('returns the counter of a use, also when it went back', async () => {
      const key = newKey({ counter: 9 });
      for (const counter of [10, 9, 3, 0])
        expect(await verifyUse(key, key.get(OPTIONS, { counter }))).toMatchObject({ counter });
    });

    it('rejects an answer to another challenge', async () => {
      const key = newKey();
      for (const challenge of ['', 'another', `${CHALLENGE}.`, CHALLENGE.slice(1)]) {
        expect(await verifyNew(key.create(OPTIONS), challenge)).toBeNull();
        expect(await verifyUse(key, key.get(OPTIONS), { challenge })).toBeNull();
      }
    });

    it('rejects an answer that was given to another origin, or in a frame of another origin', async () => {
      for (const origin of ['https://example.org', 'https://app.example.org.evil.test', 'http://app.example.org', ''])
        await expectRejected({ origin });
      await expectRejected({ crossOrigin: true });
    });

    it('rejects an answer for another relying party', async () => {
      for (const rpId of ['app.example.org', 'evil.test', '']) await expectRejected({ rpId });
    });

    it('rejects an answer without the presence of a user', () => expectRejected({ isUserPresent: false }));

    it('accepts a new passkey without the presence of a user if the browser has made it without asking', async () => {
      const key = newKey();
      const silent = key.create(OPTIONS, { isUserPresent: false, isUserVerified: false });
      expect(await make(RP).verifyNew(silent, CHALLENGE, 'conditional')).toMatchObject({ credentialId: key.id });
      expect(await make(RP).verifyNew(key.create(OPTIONS), CHALLENGE, 'conditional')).not.toBeNull();
      const foreign = key.create(OPTIONS, { isUserPresent: false, origin: 'https://evil.test' });
      expect(await make(RP).verifyNew(foreign, CHALLENGE, 'conditional')).toBeNull();
    });

    it('rejects a registration as a use, and vice versa', async () => {
      const key = newKey();
      expect(await verifyNew(key.create(OPTIONS, { type: 'webauthn.get' }))).toBeNull();
      expect(await verifyUse(key, key.get(OPTIONS, { type: 'webauthn.create' }))).toBeNull();
    });

    it('rejects a use that another key has signed, or that was changed in any part', async () => {
      const key = newKey();
      const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
      expect(await verifyUse(key, key.get(OPTIONS, { key: other }))).toBeNull();
      const used = key.get(OPTIONS);
      for (const part of ['clientDataJSON', 'authenticatorData', 'signature'] as const) {
        const { [part]: text, ...others } = used.response;
        for (const at of [0, 20, text.length - 3]) {
          const response = { ...used.response, ...others, [part]: changedAt(text, at) };
          expect(await verifyUse(key, { ...used, response })).toBeNull();
        }
      }
    });

    it('rejects a use with the handle of another user, and accepts an empty handle', async () => {
      const key = newKey();
      const { userHandle: _, ...response } = key.get(OPTIONS).response;
      for (const none of [{}, { userHandle: null }, { userHandle: '' }])
        expect(await verifyUse(key, { ...key.get(OPTIONS), response: { ...response, ...none } })).not.toBeNull();
      expect(await verifyUse(key, key.get(OPTIONS, { userHandle: 'b3RoZXI' }))).toBeNull();
      expect(await verifyUse(key, key.get(OPTIONS), { userHandle: 'b3RoZXI' })).toBeNull();
      expect(await verifyUse(key, { ...key.get(OPTIONS), id: newKey().id })).toBeNull();
    });

    it('rejects a new credential under another id than that of its authenticator', async () => {
      expect(await verifyNew({ ...newKey().create(OPTIONS), id: newKey().id })).toBeNull();
    });

    it('ignores the statement of an attestation, since the options ask for none', async () => {
      const statement = new Map([['x5c', [Uint8Array.from(Buffer.from('certificate'))]]]);
      for (const format of ['none', 'packed', 'unknown']) {
        const key = newKey();
        const made = key.create(OPTIONS, { attestation: { format, statement } });
        expect(await verifyNew(made)).toMatchObject({ credentialId: key.id });
      }
    });

    it('rejects what cannot be read', async () => {
      const key = newKey();
      const [made, used] = [key.create(OPTIONS), key.get(OPTIONS)];
      const cut = (text: string) => text.slice(0, text.length / 2);
      const { attestationObject, clientDataJSON } = made.response;
      for (const text of ['', '*', 'bnVsbA', cut(attestationObject), 'A'.repeat(1_400_000)]) {
        expect(await verifyNew({ ...made, response: { ...made.response, attestationObject: text } })).toBeNull();
        const response = { ...used.response, authenticatorData: text };
        expect(await verifyUse(key, { ...used, response })).toBeNull();
      }
      for (const text of ['', '*', 'bnVsbA', 'e30', cut(clientDataJSON)]) {
        const response = { ...made.response, clientDataJSON: text };
        expect(make(RP).challengeOf({ response })).toBeNull();
        expect(await verifyNew({ ...made, response })).toBeNull();
        expect(await verifyUse(key, { ...used, response: { ...used.response, clientDataJSON: text } })).toBeNull();
      }
    });
  });
};
