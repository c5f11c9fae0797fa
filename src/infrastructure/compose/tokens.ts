import { jwks, type PublicJwks } from '../../adapters/token-signer/jwks.ts';
import { nodeCryptoTokenSigner } from '../../adapters/token-signer/node-crypto.ts';
import { rememberingTokenSigner } from '../../adapters/token-signer/remembering.ts';
import type { TokenSigner } from '../../application/ports/token-signer.ts';
import type { Config } from '../config.ts';
import { loadOrCreateKeys } from '../keys/keys.ts';
import type { Ports } from './ports.ts';

/** An overriding signer has keys of its own, so that the key set is empty. */
export const openTokens = async (
  config: Pick<Config, 'keys' | 'dataDir' | 'issuer' | 'audience'>,
  { tokens }: Partial<Ports>,
): Promise<{ tokens: TokenSigner; keySet: PublicJwks }> => {
  if (tokens !== undefined) return { tokens, keySet: { keys: [] } };
  const keys = config.keys ?? (await loadOrCreateKeys(config.dataDir));
  return {
    tokens: rememberingTokenSigner(
      await nodeCryptoTokenSigner(keys, { issuer: config.issuer, audience: config.audience }),
    ),
    keySet: await jwks(keys.access),
  };
};
