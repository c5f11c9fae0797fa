import type { KeyObject } from 'node:crypto';
import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import type { ProviderAnswer } from '../../application/ports/identity-providers.ts';

/** The key that signs client secrets for Apple. */
export type AppleKey = {
  readonly teamId: string;
  readonly keyId: string;
  /** On P-256. */
  readonly privateKey: KeyObject;
};

export type ProviderSettings = {
  /** Small letters, digits and hyphens. */
  readonly name: string;
  /** The name that people see. */
  readonly title: string;
  readonly protocol: 'openid' | 'github';
  /** The issuer whose configuration is read. For GitHub, the issuer of its identities in this service. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | AppleKey;
  readonly scopes: readonly string[];
  /** Whether the provider sends the browser back by POST. */
  readonly formPost: boolean;
};

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
