import { asking } from './ask.ts';
import { AuthError } from './auth-error.ts';
import { chosen } from './autofill.ts';
import { ignore } from './host.ts';
import type * as Api from './types.ts';
import { can, canAutofill, create, get, isAvailable, signalAccepted, signalUnknown, signalUser } from './webauthn.ts';

/** Milliseconds. Browsers say that they will not make a passkey at the end of the time-out only. */
const SILENCE = 15_000;

/**
 * The passkeys of the user of an AuthClient, and log-ins with them. Every failure is an AuthError; if you abort a call, it rejects with your reason.
 */
export const createPasskeyClient = ({ baseUrl, auth }: Api.PasskeyClientOptions) => {
  const ask = asking({ baseUrl, fetch: auth.fetch });
  const requestOptions = () => ask<Api.PasskeyRequestOptions>('POST', '/auth/passkey/options');
  const creationOptions = () => ask<Api.PasskeyCreationOptions>('POST', '/users/me/passkeys/options');
  const store = (body: object) => ask<Api.AddedPasskey>('POST', '/users/me/passkeys', body);

  let current = new AbortController();
  /** Ends what waits for a passkey, since a browser asks for one at a time. */
  const begin = (signal?: AbortSignal) => {
    current.abort(new AuthError('CLIENT_PASSKEY_REFUSED', 'Another call has taken its place.'));
    const own = new AbortController();
    current = own;
    return { own, signal: signal ? AbortSignal.any([signal, own.signal]) : own.signal };
  };

  /** With what the device has; `undefined`: it has nothing, or its user does not want to. */
  const atOnce = (options: Api.PasskeyRequestOptions, signal: AbortSignal) =>
    get(options, signal, { uiMode: 'immediate' }).catch(() => signal.throwIfAborted());

  const logIn = async ({ autofill, immediate }: Api.PasskeyLogin, signal: AbortSignal): Promise<Api.User | null> => {
    if ((autofill && !(await canAutofill())) || (immediate && !(await can('immediateGet')))) return null;
    const options = await requestOptions();
    const ask = immediate ? atOnce : get;
    const credential = await (autofill ? chosen(requestOptions, options, signal) : ask(options, signal));
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
    /** Lets the user make a passkey. */
    add: async ({ name, signal: given }: Api.PasskeyAddition = {}): Promise<Api.AddedPasskey> => {
      const { signal } = begin(given);
      const credential: Api.NewPasskeyCredential = await create(await creationOptions(), signal);
      return store({ credential, name });
    },
    rename: (id: string, name: string) =>
      ask<Api.Passkey>('PATCH', `/users/me/passkeys/${encodeURIComponent(id)}`, { name }),
    /** Removes a passkey, and has the browser forget it. */
    remove: async (id: string): Promise<void> => {
      await signalAccepted(await ask<Api.AcceptedPasskeys>('DELETE', `/users/me/passkeys/${encodeURIComponent(id)}`));
    },
    /**
     * Logs in with a passkey of any user. `null`: nobody, because another call of this client has taken its place. With `autofill` also when
     * somebody logs in otherwise, here or in another tab, and where the browser has no autofill. With `immediate` also when the browser has nothing
     * to show at once: then show the form.
     */
    logInWithPasskey: async (login: Api.PasskeyLogin = {}): Promise<Api.User | null> => {
      const { autofill, signal: given } = login;
      const { own, signal } = begin(given);
      const unlisten = auth.onChange((user) => autofill && user && own.abort());
      try {
        return await logIn(login, signal);
      } catch (error) {
        if (own.signal.aborted && !given?.aborted) return null;
        throw error;
      } finally {
        unlisten();
      }
    },
    /**
     * After a log-in with a password: has the browser make a passkey without a question, if its password manager has filled in the password.
     * @returns whether there is another passkey, after 15 seconds if there is not
     */
    offerPasskey: async (): Promise<boolean> => {
      if (!(await can('conditionalCreate'))) return false;
      const { signal } = begin();
      const options = { ...(await creationOptions()), timeout: SILENCE };
      const credential = await create(options, signal, 'conditional').catch(ignore);
      if (credential) await store({ credential, mediation: 'conditional' });
      return !!credential;
    },
    /** After a change of the username: browsers show the new one at passkeys. */
    signalUser: async (): Promise<void> => {
      await signalUser(await creationOptions());
    },
    /** Lets the user show a passkey, for a step-up or a second factor. */
    passkeyCredential: async ({ options, signal: given }: Api.PasskeyUse = {}): Promise<Api.PasskeyCredential> => {
      const { signal } = begin(given);
      return get(options ?? (await requestOptions()), signal);
    },
  };
};
