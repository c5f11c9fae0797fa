import type { IdentityProvider } from '../../application/ports/identity-providers.ts';
import type { Config } from '../config.ts';

/** The providers of the configuration. Their library is loaded if there is one. */
export const openProviders = async ({
  providers,
  baseUrl,
}: Pick<Config, 'providers' | 'baseUrl'>): Promise<ReadonlyMap<string, IdentityProvider>> =>
  providers.length === 0
    ? new Map()
    : (await import('../../adapters/oidc/provider.ts')).identityProviders(providers, baseUrl);
