import { asking } from './ask.ts';
import type * as Api from './types.ts';

/**
 * The calls about an account beside its sessions: recovery, verification, changes, what is stored. With the `fetch` of an AuthClient they
 * are those of its user. Every answer that is an error rejects with an AuthError.
 */
export const createAccountClient = (options: Api.AccountClientOptions) => {
  const ask = asking(options);
  const post = (path: string) => (body: object) => ask<null>('POST', path, body);
  const confirm = (path: string) => (token: string) => ask<null>('POST', path, { token });

  return {
    /** The user with what the service knows beside the access token: the language, whether the email is verified, its factors in short. */
    me: (): Promise<Api.CurrentUser> => ask('GET', '/users/me'),
    /** Sends a link to the address, if it has an account. The answer is the same if not. */
    requestPasswordReset: (email: string): Promise<null> => post('/auth/password-reset')({ email }),
    /** Whose password the link sets. Does not use it up. */
    previewPasswordReset: (token: string): Promise<Api.PasswordResetPreview> =>
      ask('POST', '/auth/password-reset/preview', { token }),
    /** Sets a new password with the token of the link, and ends all sessions. */
    resetPassword: (reset: Api.PasswordReset): Promise<null> => post('/auth/password-reset/confirm')(reset),
    /** Sends another link to the address, if it has an account that is not verified. The answer is the same if not. */
    requestEmailVerification: (email: string): Promise<null> => post('/auth/email-verification')({ email }),
    verifyEmail: confirm('/auth/email-verification/confirm'),
    /** Removes an account that somebody else has registered with one's own address. */
    refuseRegistration: confirm('/auth/email-verification/not-me'),
    /** Whose email the link changes. Does not use it up. */
    previewEmailChange: (token: string): Promise<Api.EmailChangePreview> =>
      ask('POST', '/auth/email-change/preview', { token }),
    /**
     * Without a session of the account, with its password. Another session takes the place of that of the AuthClient, which gets its token
     * with the next renewal: `refresh()` does it at once.
     */
    confirmEmailChange: (confirmation: Api.EmailChangeConfirmation): Promise<Api.RefreshResult | null> =>
      ask('POST', '/auth/email-change/confirm', confirmation),
    /** Restores the email, and ends all sessions. The address gets a link for a new password. */
    undoEmailChange: confirm('/auth/email-change/undo'),
    /** Removes the passkeys and apps that were added since the change that the mail has reported, and does the same. */
    undoFactors: confirm('/auth/factors/undo'),
    /** Afterwards `refresh()` of the AuthClient gets a token with the new name. */
    changeUsername: (change: Api.UsernameChange): Promise<Api.User> => ask('PUT', '/users/me/username', change),
    /** The language of the user's mails, such as `de-AT`. */
    changeLocale: (locale: string): Promise<Api.CurrentUser> => ask('PATCH', '/users/me', { locale }),
    /** Sends a link to the new address. The email changes when it is confirmed. */
    changeEmail: (change: Api.EmailChange): Promise<null> => ask('PUT', '/users/me/email', change),
    /** Only with `PASSWORDS=optional`: mails a code to the present address, which changes it or deletes the account in place of the password. */
    requestConfirmationCode: (): Promise<null> => ask('POST', '/users/me/code'),
    /** Removes the user with everything about them: with the password, or a code. Afterwards `logout()` of the AuthClient tells the other tabs. */
    remove: (password?: string, code?: string): Promise<null> => ask('DELETE', '/users/me', { password, code }),
    /** Everything that is stored about the user. */
    exported: (): Promise<Api.AccountExport> => ask('GET', '/users/me/export'),
    /** What happened to the account, the latest first. */
    events: ({ before, limit }: Api.EventsPage = {}): Promise<Api.AccountEvents> => {
      const query = new URLSearchParams({ ...(before && { before }), ...(limit && { limit: `${limit}` }) });
      return ask('GET', `/users/me/events?${query}`);
    },
    /** The accounts at providers with which the user logs in. `logInWith(provider, { link: true })` of the AuthClient links another. */
    identities: {
      list: (): Promise<readonly Api.LinkedIdentity[]> => ask('GET', '/users/me/identities'),
      /** Not the only way into the account. Needs a recent step-up. */
      unlink: (id: string): Promise<null> => ask('DELETE', `/users/me/identities/${encodeURIComponent(id)}`),
    },
    /** What the user can log in with besides the password. All of it needs a recent step-up. */
    factors: {
      list: (): Promise<Api.Factors> => ask('GET', '/users/me/factors'),
      /** Makes the secret of an authenticator app, which is shown this once. Log-ins need it when it is confirmed. */
      addApp: (): Promise<Api.StartedApp> => ask('POST', '/users/me/factors/totp'),
      /** With the first code of the app. With recovery codes, shown this once, if the user had none. */
      confirmApp: (confirmation: Api.AppConfirmation): Promise<Api.RecoveryCodes> =>
        ask('POST', '/users/me/factors/totp/confirm', confirmation),
      /** With the last app go the recovery codes. */
      removeApp: (id: string): Promise<null> => ask('DELETE', `/users/me/factors/${encodeURIComponent(id)}`),
      /** Ten new ones, shown this once, in place of the former ones. */
      makeRecoveryCodes: (): Promise<Api.RecoveryCodes> => ask('POST', '/users/me/factors/recovery-codes'),
    },
  };
};

/** A log-in of an AuthClient that was refused with AUTH_SECOND_FACTOR_REQUIRED: the browser has its cookie for the next five minutes. */
export const createPendingLoginClient = ({ baseUrl, auth }: Api.PendingLoginOptions) => {
  const ask = asking({ baseUrl, fetch: auth.fetch });
  return {
    /** What it waits for. AUTH_SECOND_FACTOR_INVALID: no log-in waits. */
    show: (): Promise<Api.PendingLogin> => ask('GET', '/auth/login/pending'),
    /** Makes the secret of an authenticator app, for a user who has to add one (`enrol`). Its first code finishes the log-in. */
    addApp: (): Promise<Api.StartedApp> => ask('POST', '/auth/login/pending/totp'),
    /** Logs in. With recovery codes, shown this once, if the code was the first one of an app. */
    finish: async (shown: Api.SecondFactor): Promise<Api.FinishedLogin> => {
      let recoveryCodes: readonly string[] = [];
      const user = await auth.logInAt('/auth/login/second-factor', shown, (result) => {
        recoveryCodes = (result as Partial<Api.RecoveryCodes>).recoveryCodes ?? recoveryCodes;
      });
      return { user, recoveryCodes };
    },
  };
};
