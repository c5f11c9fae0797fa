import { jwks } from '../../adapters/token-signer/jwks.ts';
import type { KeyPair } from '../../adapters/token-signer/keys.ts';

/** The `kid` of each public key of a pair, the current one first. */
export const kidsOf = async (pair: KeyPair): Promise<string[]> => (await jwks(pair)).keys.map(({ kid }) => kid);
