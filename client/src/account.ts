import { asking } from './ask.ts';
import type {
  AccountClientOptions,
  AccountEvents,
  AccountExport,
  CurrentUser,
  EmailChange,
  EmailChangeConfirmation,
  EmailChangePreview,
  EventsPage,
  PasswordReset,
  RefreshResult,
  User,
  UsernameChange,
} from './types.ts';

/**
 * The calls about an account beside its sessions: recovery, verification, changes, what is stored. With the `fetch` of an AuthClient they
 * are those of its user. Every answer that is an error rejects with an AuthError.
 */
export const createAccountClient = (options: AccountClientOptions) => {
  const ask = asking(options);
  const post = (path: string) => (body: object) => ask<null>('POST', path, body);
  const confirm = (path: string) => (token: string) => ask<null>('POST', path, { token });

  return {
    /** The user with what the service knows beside the access token: the language, whether the email is verified. */
    me: (): Promise<CurrentUser> => ask('GET', '/users/me'),
    /** Sends a link to the address, if it has an account. The answer is the same if not. */
    requestPasswordReset: (email: string): Promise<null> => post('/auth/password-reset')({ email }),
    /** Sets a new password with the token of the link, and ends all sessions. */
    resetPassword: (reset: PasswordReset): Promise<null> => post('/auth/password-reset/confirm')(reset),
    /** Sends another link to the address, if it has an account that is not verified. The answer is the same if not. */
    requestEmailVerification: (email: string): Promise<null> => post('/auth/email-verification')({ email }),
    verifyEmail: confirm('/auth/email-verification/confirm'),
    /** Removes an account that somebody else has registered with one's own address. */
    refuseRegistration: confirm('/auth/email-verification/not-me'),
    /** Whose email the link changes. Does not use it up. */
    previewEmailChange: (token: string): Promise<EmailChangePreview> =>
      ask('POST', '/auth/email-change/preview', { token }),
    /**
     * Without a session of the account, with its password. Another session takes the place of that of the AuthClient, which gets its token
     * with the next renewal: `refresh()` does it at once.
     */
    confirmEmailChange: (confirmation: EmailChangeConfirmation): Promise<RefreshResult | null> =>
      ask('POST', '/auth/email-change/confirm', confirmation),
    undoEmailChange: confirm('/auth/email-change/undo'),
    /** Afterwards `refresh()` of the AuthClient gets a token with the new name. */
    changeUsername: (change: UsernameChange): Promise<User> => ask('PUT', '/users/me/username', change),
    /** The language of the user's mails, such as `de-AT`. */
    changeLocale: (locale: string): Promise<CurrentUser> => ask('PATCH', '/users/me', { locale }),
    /** Sends a link to the new address. The email changes when it is confirmed. */
    changeEmail: (change: EmailChange): Promise<null> => ask('PUT', '/users/me/email', change),
    /** Removes the user with everything about them. Afterwards `logout()` of the AuthClient tells the other tabs. */
    remove: (password: string): Promise<null> => ask('DELETE', '/users/me', { password }),
    /** Everything that is stored about the user. */
    exported: (): Promise<AccountExport> => ask('GET', '/users/me/export'),
    /** What happened to the account, the latest first. */
    events: ({ before, limit }: EventsPage = {}): Promise<AccountEvents> => {
      const query = new URLSearchParams({ ...(before && { before }), ...(limit && { limit: `${limit}` }) });
      return ask('GET', `/users/me/events?${query}`);
    },
  };
};
