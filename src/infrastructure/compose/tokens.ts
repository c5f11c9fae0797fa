import { joseTokenSigner } from '../../adapters/token-signer/jose.ts';
import { jwks, type PublicJwks } from '../../adapters/token-signer/jwks.ts';
import type { TokenSigner } from '../../application/ports/token-signer.ts';
import type { Config } from '../config.ts';
import { loadOrCreateKeys } from '../keys/keys.ts';
import type { Ports } from './ports.ts';

/** A signer from elsewhere has keys of its own, which are not known here. */
export const openTokens = async (
  config: Config,
  { tokens }: Partial<Ports>,
): Promise<{ tokens: TokenSigner; keySet: PublicJwks }> => {
  if (tokens !== undefined) return { tokens, keySet: { keys: [] } };
  const keys = config.keys ?? (await loadOrCreateKeys(config.dataDir));
  return { tokens: await joseTokenSigner(keys, config), keySet: await jwks(keys.access) };
};
