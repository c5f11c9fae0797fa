import { createAsk } from './ask.ts';
import type * as Api from './types.ts';

/**
 * Calls about an account: recovery, verification, changes, factors, stored data. With the `fetch` of an AuthClient, they act for the user of that
 * client. A call rejects with an AuthError if there is no answer, or the answer is an error.
 */
export const createAccountClient = (options: Api.AccountClientOptions) => {
  const ask = createAsk(options);
  const post = (path: string) => (body: object) => ask<null>('POST', path, body);
  const confirm = (path: string) => (token: string) => ask<null>('POST', path, { token });

  return {
    /** The user, with what the access token does not tell: the language, whether the email is verified, which factors there are. */
    me: (): Promise<Api.CurrentUser> => ask('GET', '/users/me'),
    /** Sends a link to the address, if it has an account. The answer is the same if it has none. */
    requestPasswordReset: (email: string): Promise<null> => post('/auth/password-reset')({ email }),
    /** Shows whose password the link sets, without using the link up. */
    previewPasswordReset: (token: string): Promise<Api.PasswordResetPreview> =>
      ask('POST', '/auth/password-reset/preview', { token }),
    /** Sets a new password with the token of the link, and ends all sessions. */
    resetPassword: (reset: Api.PasswordReset): Promise<null> => post('/auth/password-reset/confirm')(reset),
    /** Sends another link to the address, if it has an account that is not verified. The answer is the same if it has none. */
    requestEmailVerification: (email: string): Promise<null> => post('/auth/email-verification')({ email }),
    verifyEmail: confirm('/auth/email-verification/confirm'),
    /** Removes an account that somebody else has registered with the user's address. */
    refuseRegistration: confirm('/auth/email-verification/not-me'),
    /** Shows whose email the link changes, without using the link up. */
    previewEmailChange: (token: string): Promise<Api.EmailChangePreview> =>
      ask('POST', '/auth/email-change/preview', { token }),
    /**
     * Changes the email with the token of the link. Without a session of the account, it needs the password. With a session, the service replaces it:
     * the AuthClient gets the new access token at its next renewal, or at once by `refresh()`.
     */
    confirmEmailChange: (confirmation: Api.EmailChangeConfirmation): Promise<Api.RefreshResult | null> =>
      ask('POST', '/auth/email-change/confirm', confirmation),
    /** Restores the email, and ends all sessions. The address gets a link for a new password. */
    undoEmailChange: confirm('/auth/email-change/undo'),
    /** Removes the factors and identities added since the change that the mail reports, and ends all sessions. The address gets a link for a new password. */
    undoFactors: confirm('/auth/factors/undo'),
    /** Changes the username. Afterwards `refresh()` of the AuthClient gets a token with the new name. */
    changeUsername: (change: Api.UsernameChange): Promise<Api.User> => ask('PUT', '/users/me/username', change),
    /** Changes the language of the user's mails, such as `de-AT`. */
    changeLocale: (locale: string): Promise<Api.CurrentUser> => ask('PATCH', '/users/me', { locale }),
    /** Sends a link to the new address. The email changes when the user confirms the link. */
    changeEmail: (change: Api.EmailChange): Promise<null> => ask('PUT', '/users/me/email', change),
    /** Only with `PASSWORDS=optional`: mails a code to the present address, which replaces the password in `changeEmail` and `remove`. */
    requestConfirmationCode: (): Promise<null> => ask('POST', '/users/me/code'),
    /** Deletes the account. Needs the password, or a code. Afterwards `logout()` of the AuthClient tells the other tabs. */
    remove: (password?: string, code?: string): Promise<null> => ask('DELETE', '/users/me', { password, code }),
    /** What is stored about the user, without secrets. */
    exported: (): Promise<Api.AccountExport> => ask('GET', '/users/me/export'),
    /** What happened to the account, the latest first. */
    events: ({ before, limit }: Api.EventsPage = {}): Promise<Api.AccountEvents> => {
      const query = new URLSearchParams({ ...(before && { before }), ...(limit && { limit: `${limit}` }) });
      return ask('GET', `/users/me/events?${query}`);
    },
    /** The accounts at providers with which the user logs in. `logInWith(provider, { link: true })` of the AuthClient links another one. */
    identities: {
      list: (): Promise<readonly Api.LinkedIdentity[]> => ask('GET', '/users/me/identities'),
      /** Removes an identity, unless it is the only way into the account. Needs a recent step-up. */
      unlink: (id: string): Promise<null> => ask('DELETE', `/users/me/identities/${encodeURIComponent(id)}`),
    },
    /** Authenticator apps and recovery codes; the list also has the passkeys. All calls need a recent step-up. */
    factors: {
      list: (): Promise<Api.Factors> => ask('GET', '/users/me/factors'),
      /** Makes the secret of an authenticator app, which is shown only this once. After `confirmApp`, log-ins need a second factor. */
      addApp: (): Promise<Api.StartedApp> => ask('POST', '/users/me/factors/totp'),
      /** Confirms an app by its first code. Resolves to recovery codes, shown only this once, if the user had none. */
      confirmApp: (confirmation: Api.AppConfirmation): Promise<Api.RecoveryCodes> =>
        ask('POST', '/users/me/factors/totp/confirm', confirmation),
      /** Removes an app, and with the last app also the recovery codes. */
      removeApp: (id: string): Promise<null> => ask('DELETE', `/users/me/factors/${encodeURIComponent(id)}`),
      /** Makes ten recovery codes, shown only this once, which replace the former ones. */
      makeRecoveryCodes: (): Promise<Api.RecoveryCodes> => ask('POST', '/users/me/factors/recovery-codes'),
    },
  };
};

/** Finishes a log-in of an AuthClient that was refused with AUTH_SECOND_FACTOR_REQUIRED. It can be finished for five minutes, by a code in a mail for ten. */
export const createPendingLoginClient = ({ baseUrl, auth }: Api.PendingLoginOptions) => {
  const ask = createAsk({ baseUrl, fetch: auth.fetch });
  return {
    /** Shows what the log-in lacks. Rejects with AUTH_SECOND_FACTOR_INVALID if there is no pending log-in. */
    show: (): Promise<Api.PendingLogin> => ask('GET', '/auth/login/pending'),
    /** Makes the secret of an authenticator app, for a user who has to add one (`enrol`). Its first code finishes the log-in. */
    addApp: (): Promise<Api.StartedApp> => ask('POST', '/auth/login/pending/totp'),
    /** Logs in. Resolves with recovery codes, shown only this once, if the code was the first one of an app. */
    finish: async (factor: Api.SecondFactor): Promise<Api.FinishedLogin> => {
      let recoveryCodes: readonly string[] = [];
      const user = await auth.logInAt('/auth/login/second-factor', factor, (result) => {
        recoveryCodes = (result as Partial<Api.RecoveryCodes>).recoveryCodes ?? recoveryCodes;
      });
      return { user, recoveryCodes };
    },
  };
};
