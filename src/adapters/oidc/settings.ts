import type { KeyObject } from 'node:crypto';

/** What the configuration says about a provider. Without openid-client, which no program needs that imports the configuration. */

/** With which the client secrets for Apple are signed. */
export type AppleKey = {
  readonly teamId: string;
  readonly keyId: string;
  /** On P-256. */
  readonly privateKey: KeyObject;
};

export type ProviderSettings = {
  /** Small letters, digits and hyphens. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  readonly protocol: 'openid' | 'github';
  /** That of the discovery. Of GitHub, the one that its identities have here. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | AppleKey;
  readonly scopes: readonly string[];
  /** Whether the provider sends the browser back by POST. */
  readonly formPost: boolean;
};
