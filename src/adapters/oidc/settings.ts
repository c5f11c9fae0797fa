import type { KeyObject } from 'node:crypto';
import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import type { ProviderAnswer } from '../../application/ports/identity-providers.ts';

export type AppleKey = {
  readonly teamId: string;
  readonly keyId: string;
  /** A key on P-256. */
  readonly privateKey: KeyObject;
};

export type ProviderSettings = {
  /** The provider's name in URLs: small letters, digits and hyphens. */
  readonly name: string;
  /** The name that people see. */
  readonly title: string;
  readonly protocol: 'openid' | 'github';
  /** The issuer whose configuration is read. GitHub has no configuration: this text only stands for GitHub in stored identities. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | AppleKey;
  readonly scopes: readonly string[];
  /** Whether the provider sends the browser back by POST. */
  readonly formPost: boolean;
};

/** How sign-ins with OpenID Connect differ from those with OAuth alone. */
export type Protocol = {
  readonly configuration: () => Promise<Configuration>;
  /** Called when `IdentityProvider.complete` ends. @param error why it, or its question for the address, has failed; `undefined` after a success */
  readonly onSignInEnd: (error: unknown) => void;
  readonly hasIdToken: boolean;
  /** How the client secret is sent, such as `client_secret_post`, for the log. */
  readonly clientMethod: (configuration: Configuration) => string;
  readonly identityOf: (
    configuration: Configuration,
    tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
  ) => Promise<Omit<ProviderAnswer, 'provider'>>;
};
