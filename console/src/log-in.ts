import { onClick, onSubmit, showError } from './actions.ts';
import { showApp } from './app.ts';
import { type AuthClient, AuthError, type PasskeyRequestOptions, type SecondFactor } from './client.js';
import { createPendingLoginClient } from './client-account.js';
import type { createPasskeyClient } from './client-passkeys.js';
import { byId, say } from './dom.ts';
import { showState } from './state.ts';
import { timeText } from './time.ts';

type Clients = {
  readonly auth: AuthClient;
  readonly passkeys: ReturnType<typeof createPasskeyClient>;
  readonly baseUrl: string;
};

/** The forms of a visitor. @returns a function that begins to offer passkeys in them. */
export const showLogIn = (clients: Clients): { readonly offerPasskeys: () => void } => {
  const { auth, passkeys } = clients;
  /** Nobody has asked for it, so nobody hears that the browser does not want to. */
  const offerPasskeys = (): void =>
    void passkeys
      .logInWithPasskey({ autofill: true })
      .catch(unless('CLIENT_PASSKEY_REFUSED', async () => undefined))
      .catch(showError);
  const askForFactor = showPendingLogin(clients, offerPasskeys);

  onSubmit('login', ({ account = '', password = '' }) =>
    auth.login({ account, password }).catch(unless('AUTH_SECOND_FACTOR_REQUIRED', askForFactor)),
  );
  onSubmit('register', async ({ username = '', email = '', password = '' }) => {
    const user = await auth.register({ username, email, password });
    // Nobody is logged in yet: the address has to be verified, or the user needs a second factor.
    if (user === null) await askForFactor().catch(unless('AUTH_SECOND_FACTOR_INVALID', async () => say(VERIFY)));
  });
  onClick(byId('login-passkey'), () => passkeys.logInWithPasskey().finally(() => auth.user ?? offerPasskeys()));
  return { offerPasskeys };
};

const VERIFY = 'Open the link in the email, then log in.';

/** Does something else about one error. */
const unless =
  (code: string, instead: () => Promise<void>) =>
  async (error: unknown): Promise<void> => {
    if (!(error instanceof AuthError) || error.code !== code) throw error;
    await instead();
  };

/** The second half of a log-in. @returns a function that begins it. */
const showPendingLogin = ({ auth, passkeys, baseUrl }: Clients, leave: () => void): (() => Promise<void>) => {
  const login = createPendingLoginClient({ baseUrl, auth });
  const app = byId('pending-app');
  let options: PasskeyRequestOptions | undefined;
  const finish = (shown: SecondFactor) => {
    const remember = byId<HTMLInputElement>('remember').checked;
    return login.finish(remember ? { ...shown, remember } : shown);
  };
  onSubmit('pending', async ({ code = '', recoveryCode = '' }) => {
    await finish(recoveryCode === '' ? { code } : { recoveryCode });
    app.replaceChildren();
  });
  onClick(byId('pending-passkey'), async () => {
    const credential = await passkeys.passkeyCredential({ ...(options && { options }) });
    await finish({ credential });
  });
  onClick(byId('pending-back'), async () => {
    app.replaceChildren();
    showState('out');
    leave();
  });
  return async () => {
    const { methods, expiresAt, passkey, enrol } = await login.show();
    if (enrol) showApp(app, await login.addApp());
    options = passkey ?? undefined;
    app.hidden = !enrol;
    byId('pending-code-part').hidden = !enrol && !methods.includes('totp');
    byId('pending-recovery-part').hidden = !methods.includes('recovery-code');
    byId('pending-passkey').hidden = passkey === null || !passkeys.isAvailable();
    byId('pending-until').textContent = `Until ${timeText(expiresAt)}. Then log in again.`;
    showState('pending');
    say(enrol ? 'This service wants a second factor. Add an authenticator app.' : 'The password is right.');
  };
};
