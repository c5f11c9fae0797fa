import { createAsk } from './ask.ts';
import { AuthError } from './auth-error.ts';
import { awaitPasskey } from './autofill.ts';
import { ignore } from './host.ts';
import type * as Api from './types.ts';
import { can, canAutofill, create, get, isAvailable, signalAccepted, signalUnknown, signalUser } from './webauthn.ts';

/** Milliseconds in which a browser may make a passkey without asking. A browser that makes none may say so only at the end of this time. */
const SILENT_TIMEOUT = 15_000;

/** The passkeys of an AuthClient's user, and log-ins with passkeys. Every failure is an AuthError; a call that you abort rejects with your reason. */
export const createPasskeyClient = ({ baseUrl, auth }: Api.PasskeyClientOptions) => {
  const ask = createAsk({ baseUrl, fetch: auth.fetch });
  const requestOptions = () => ask<Api.PasskeyRequestOptions>('POST', '/auth/passkey/options');
  const creationOptions = () => ask<Api.PasskeyCreationOptions>('POST', '/users/me/passkeys/options');
  const store = (body: object) => ask<Api.AddedPasskey>('POST', '/users/me/passkeys', body);

  let current = new AbortController();
  /** Ends the call that waits for a passkey, since a browser asks for only one passkey at a time. */
  const begin = (signal?: AbortSignal) => {
    current.abort(new AuthError('CLIENT_PASSKEY_REFUSED', 'Another call has taken its place.'));
    const controller = new AbortController();
    current = controller;
    return { controller, signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal };
  };

  /** A passkey of this device; `undefined` if the device has none, or the user refuses. */
  const getImmediately = (options: Api.PasskeyRequestOptions, signal: AbortSignal) =>
    get(options, signal, { uiMode: 'immediate' }).catch(() => signal.throwIfAborted());

  const logIn = async ({ autofill, immediate }: Api.PasskeyLogin, signal: AbortSignal): Promise<Api.User | null> => {
    if ((autofill && !(await canAutofill())) || (immediate && !(await can('immediateGet')))) return null;
    const options = await requestOptions();
    const ask = immediate ? getImmediately : get;
    const credential = await (autofill ? awaitPasskey(requestOptions, options, signal) : ask(options, signal));
    if (!credential) return null;
    return auth.logInAt('/auth/passkey', { credential }).catch(async (error: AuthError) => {
      if (error.code === 'DB_RECORD_NOT_FOUND') await signalUnknown(options.rpId, credential.id);
      throw error;
    });
  };

  return {
    /** Whether the browser can make and show passkeys. */
    isAvailable,
    list: async (): Promise<readonly Api.Passkey[]> =>
      (await ask<{ readonly passkeys: readonly Api.Passkey[] }>('GET', '/users/me/factors')).passkeys,
    add: async ({ name, signal: outer }: Api.PasskeyAddition = {}): Promise<Api.AddedPasskey> => {
      const { signal } = begin(outer);
      const credential: Api.NewPasskeyCredential = await create(await creationOptions(), signal);
      return store({ credential, name });
    },
    rename: (id: string, name: string) =>
      ask<Api.Passkey>('PATCH', `/users/me/passkeys/${encodeURIComponent(id)}`, { name }),
    /** Removes a passkey, and asks the browser to forget it. */
    remove: async (id: string): Promise<void> => {
      await signalAccepted(await ask<Api.AcceptedPasskeys>('DELETE', `/users/me/passkeys/${encodeURIComponent(id)}`));
    },
    /**
     * Logs in with a passkey of any user. Resolves to `null` if a later call of this client has ended this call. With `autofill`, also if the user logs in
     * in another way, here or in another tab, or if the browser has no autofill. With `immediate`, also if the browser has no passkey to show at once:
     * show the form then.
     */
    logInWithPasskey: async (login: Api.PasskeyLogin = {}): Promise<Api.User | null> => {
      const { autofill, signal: outer } = login;
      const { controller, signal } = begin(outer);
      const unlisten = auth.onChange((user) => autofill && user && controller.abort());
      try {
        return await logIn(login, signal);
      } catch (error) {
        if (controller.signal.aborted && !outer?.aborted) return null;
        throw error;
      } finally {
        unlisten();
      }
    },
    /**
     * After a log-in with a password: lets the browser make a passkey without asking, if its password manager has filled in the password.
     * @returns whether the browser has made one. It may take 15 seconds to find out that it has not.
     */
    offerPasskey: async (): Promise<boolean> => {
      if (!(await can('conditionalCreate'))) return false;
      const { signal } = begin();
      const options = { ...(await creationOptions()), timeout: SILENT_TIMEOUT };
      const credential = await create(options, signal, 'conditional').catch(ignore);
      if (credential) await store({ credential, mediation: 'conditional' });
      return !!credential;
    },
    /** Tells the browser a changed username, which it then shows beside passkeys. */
    signalUser: async (): Promise<void> => {
      await signalUser(await creationOptions());
    },
    /** Lets the user present a passkey, for a step-up or a second factor. */
    passkeyCredential: async ({ options, signal: outer }: Api.PasskeyUse = {}): Promise<Api.PasskeyCredential> => {
      const { signal } = begin(outer);
      return get(options ?? (await requestOptions()), signal);
    },
  };
};
