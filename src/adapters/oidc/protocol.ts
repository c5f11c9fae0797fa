import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import type { ProviderAnswer } from '../../application/ports/identity-providers.ts';

/** What differs between OpenID Connect and OAuth without it. */
export type Protocol = {
  readonly configuration: () => Promise<Configuration>;
  /** Called when a sign-in has failed, perhaps because the configuration is out of date. */
  readonly onFailedSignIn: (error: unknown) => void;
  readonly hasIdToken: boolean;
  /** How the client secret is sent, for the log. */
  readonly clientMethod: (configuration: Configuration) => string;
  readonly identityOf: (
    configuration: Configuration,
    tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
  ) => Promise<Omit<ProviderAnswer, 'provider'>>;
};
