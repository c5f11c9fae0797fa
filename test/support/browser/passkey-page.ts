import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { createPasskeyClient } from '../../../client/src/passkeys.ts';
import { restoredIn } from './client-page.ts';

type PasskeyClient = ReturnType<typeof createPasskeyClient>;
declare global {
  var passkeyModule: { readonly createPasskeyClient: typeof createPasskeyClient } | undefined;
  var passkeys: PasskeyClient | undefined;
  /** The outcome of the log-in by a suggestion of the form: the username, `nobody`, or the code of the error. */
  var autofill: Promise<string> | undefined;
}

/** A form in which the browser suggests passkeys, and the client's module for them. */
export const passkeyForm = (service: string): string => `
  <input autocomplete="username webauthn">
  <script type="module">
    import * as passkeyModule from '${service}/client-passkeys.js';
    globalThis.passkeyModule = passkeyModule;
  </script>`;

/** Waits for the client of the page, and makes the client for passkeys. */
export const preparePasskeysIn = async (tab: Page, service: string): Promise<void> => {
  await restoredIn(tab);
  const isAvailable = await tab.evaluate((baseUrl) => {
    const { page, passkeyModule } = globalThis;
    if (page) globalThis.passkeys = passkeyModule?.createPasskeyClient({ baseUrl, auth: page.auth });
    return globalThis.passkeys?.isAvailable();
  }, service);
  expect(isAvailable).toBe(true);
};

type AuthenticatorTraits = {
  /** Whether it says that it has verified its user. If not, Chromium uses it only if the page names its passkeys. */
  readonly verifies?: boolean;
};

/** Adds Chromium's virtual authenticator to a tab. Its simulated user touches it at once. */
export const addAuthenticator = async (tab: Page, { verifies = true }: AuthenticatorTraits = {}) => {
  const protocol = await tab.context().newCDPSession(tab);
  await protocol.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await protocol.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      defaultBackupEligibility: true,
      defaultBackupState: true,
    },
  });
  await protocol.send('WebAuthn.setResponseOverrideBits', { authenticatorId, isBadUV: !verifies });
  const credentials = async () => (await protocol.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
  return {
    /** The ids of the authenticator's passkeys, in base64url. */
    ids: async () =>
      (await credentials()).map(({ credentialId }) => Buffer.from(credentialId, 'base64').toString('base64url')).sort(),
    /** Removes all passkeys from the authenticator. */
    clear: () => protocol.send('WebAuthn.clearCredentials', { authenticatorId }),
    /** The names of users that the authenticator shows. */
    names: async () => (await credentials()).map(({ userName }) => userName),
    /** Whether the simulated user touches the authenticator from now on. */
    setPresence: (enabled: boolean) =>
      protocol.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }),
  };
};

type Failure = { readonly code: string; readonly cause?: { readonly name?: string } };

/** Adds a passkey. @returns the passkey, or the code and the reason of the error */
export const addPasskeyIn = (tab: Page, name?: string) =>
  tab.evaluate(
    (given) =>
      globalThis.passkeys?.add({ name: given }).then(
        (passkey) => ({ passkey, code: null, reason: null }),
        ({ code, cause }: Failure) => ({ passkey: null, code, reason: cause?.name }),
      ),
    name,
  );

/** Logs in with a passkey, without the form. @returns the username, or the code of the error */
export const passkeyLoginIn = (tab: Page): Promise<string | undefined> =>
  tab.evaluate(() =>
    globalThis.passkeys?.logInWithPasskey().then(
      (user) => user?.username,
      ({ code }: Failure) => code,
    ),
  );

/** Offers passkeys in the form. Resolves when the service has sent the options, without waiting for the log-in. */
export const beginAutofillIn = async (tab: Page): Promise<void> => {
  const asked = tab.waitForResponse('**/auth/passkey/options');
  await tab.evaluate(() => {
    globalThis.autofill = globalThis.passkeys?.logInWithPasskey({ autofill: true }).then(
      (user) => (user ? user.username : 'nobody'),
      ({ code }: Failure) => code,
    );
  });
  await asked;
};

export const autofillIn = (tab: Page): Promise<string | undefined> => tab.evaluate(() => globalThis.autofill);

export const logOutIn = (tab: Page) => tab.evaluate(() => globalThis.page?.auth.logout());
