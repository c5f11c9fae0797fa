import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import type { VerifiedIdentity } from '../../domain/identity.ts';

/** What differs between OpenID Connect and OAuth alone. */
export type Protocol = {
  readonly configuration: () => Promise<Configuration>;
  readonly hasIdToken: boolean;
  /** How the client secret is sent, for the log. */
  readonly clientMethod: (configuration: Configuration) => string;
  readonly identityOf: (
    configuration: Configuration,
    tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
  ) => Promise<Omit<VerifiedIdentity, 'provider'>>;
};
