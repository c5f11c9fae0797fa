import { generateKeyPairSync } from 'node:crypto';
import type { KeyPair, TokenKeys } from '../../src/adapters/token-signer/jose.ts';

/** A pair of its own on P-256. */
export const testKeyPair = (): KeyPair => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, publicKeys: [publicKey] };
};

/** Fresh pairs for both tokens. */
export const testKeys = (): TokenKeys => ({ access: testKeyPair(), refresh: testKeyPair() });
