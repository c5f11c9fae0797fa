import type { AppError } from '../../domain/errors/app-error.ts';
import type { VerifiedIdentity } from '../../domain/identity.ts';

/** Three random texts of a sign-in, each of 43 characters of base64url. The service stores none of them: the browser keeps them, encrypted. */
export type SignInSecrets = { readonly state: string; readonly nonce: string; readonly verifier: string };

export type ProviderAnswer = VerifiedIdentity & {
  /** Why the address is unknown: the provider could not be asked for it, or has given no valid answer. */
  readonly addressError?: AppError;
  /** When the user has logged in at the provider, if the provider states it. Epoch milliseconds. */
  readonly authenticatedAt?: number;
};

/** A service at which users log in, such as an OpenID provider. */
export interface IdentityProvider {
  readonly name: string;
  readonly title: string;
  /** The URL to which the provider sends browsers back, and whether it does so by POST. */
  readonly callback: { readonly url: string; readonly isPosted: boolean };
  /**
   * @param mustReauthenticate whether to ask for a new log-in at the provider, unless its last one is recent. Without OpenID Connect, it has no effect.
   * @returns the URL to which the browser is sent. @throws AppError SYS_PROVIDER_UNAVAILABLE
   */
  begin(secrets: SignInSecrets, mustReauthenticate: boolean): Promise<string>;
  /**
   * Asks the provider who has logged in, for up to 20 seconds.
   * @param answer the unchecked query, without `?`, or form with which the provider has sent the browser back.
   * @throws AppError AUTH_IDENTITY_UNPROVEN, SYS_PROVIDER_UNAVAILABLE
   */
  complete(secrets: SignInSecrets, answer: string): Promise<ProviderAnswer>;
}
