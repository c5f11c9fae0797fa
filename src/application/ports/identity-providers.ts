import type { AppError } from '../../domain/errors/app-error.ts';
import type { VerifiedIdentity } from '../../domain/identity.ts';

/** Of one sign-in: random texts of 43 characters of base64url, which only the browser that has begun it keeps, sealed. */
export type SignInSecrets = { readonly state: string; readonly nonce: string; readonly verifier: string };

/**
 * @property addressError why the address could not be asked for, if the provider has proven who the user is, and no more.
 * @property authenticatedAt when the user has logged in there, if the provider says so. Epoch milliseconds.
 */
export type ProviderAnswer = VerifiedIdentity & { readonly addressError?: AppError; readonly authenticatedAt?: number };

/** A service at which users log in, such as an OpenID provider. */
export interface IdentityProvider {
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** Where it sends browsers back to, and whether by POST. */
  readonly callback: { readonly url: string; readonly isPosted: boolean };
  /**
   * The address to which the browser is sent.
   * @param isAgain asks the provider to let its user log in anew, unless that was within the last minutes.
   * @throws AppError SYS_PROVIDER_UNAVAILABLE
   */
  begin(secrets: SignInSecrets, isAgain: boolean): Promise<string>;
  /**
   * Who has logged in. Asks the provider, for up to 20 seconds.
   * @param answer the query with which the provider has sent the browser back, without `?`. Nothing has checked it.
   * @throws AppError AUTH_IDENTITY_UNPROVEN, SYS_PROVIDER_UNAVAILABLE
   */
  complete(secrets: SignInSecrets, answer: string): Promise<ProviderAnswer>;
}
