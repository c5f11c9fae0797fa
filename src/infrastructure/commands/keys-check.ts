import type { KeyPair } from '../../adapters/token-signer/jose.ts';
import { jwks } from '../../adapters/token-signer/jwks.ts';
import { parseConfig } from '../config.ts';

/**
 * What the keys in the environment are good for. Names keys by their `kid`.
 * @throws ConfigError when the service would not start
 */
export const checkKeys = async (env: Readonly<Record<string, string | undefined>>): Promise<string> => {
  const { keys } = parseConfig(env);
  if (keys === null) return 'The environment holds no keys: the service makes its own and keeps them in DATA_DIR.\n';
  return `${await told('access', keys.access)}\n${await told('refresh', keys.refresh)}`;
};

const told = async (kind: string, pair: KeyPair): Promise<string> => {
  const { keys } = await jwks(pair);
  const lines = keys.map(({ kid }, index) => `  ${kid}  ${index === 0 ? 'current: signs and verifies' : 'verifies'}\n`);
  return `Keys of ${kind} tokens:\n${lines.join('')}`;
};
