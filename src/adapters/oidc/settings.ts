import type { KeyObject } from 'node:crypto';

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
