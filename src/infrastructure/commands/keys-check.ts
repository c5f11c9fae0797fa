import type { KeyPair } from '../../adapters/token-signer/keys.ts';
import { parseConfig } from '../config.ts';
import { kidsOf } from './kids.ts';

/**
 * Describes the keys in the environment by their `kid`, and what each is used for.
 * @throws ConfigError when the service would not start
 */
export const checkKeys = async (env: Readonly<Record<string, string | undefined>>): Promise<string> => {
  const { keys } = parseConfig(env);
  if (keys === null)
    return 'The environment has no keys. Outside production, the service creates its own in DATA_DIR.\n';
  return `${await describePair('access', keys.access)}\n${await describePair('refresh', keys.refresh)}`;
};

const describePair = async (kind: string, pair: KeyPair): Promise<string> => {
  const kids = await kidsOf(pair);
  const lines = kids.map((kid, index) => `  ${kid}  ${index === 0 ? 'current: signs and verifies' : 'verifies'}\n`);
  return `Keys of ${kind} tokens:\n${lines.join('')}`;
};
