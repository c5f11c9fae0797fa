import { generateKeyPairSync } from 'node:crypto';
import type { KeyPair, TokenKeys } from '../../src/adapters/crypto/token-keys.ts';

/** A new key pair on P-256. */
export const testKeyPair = (): KeyPair => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, publicKeys: [publicKey] };
};

/** New key pairs for both kinds of tokens. */
export const testKeys = (): TokenKeys => ({ access: testKeyPair(), refresh: testKeyPair() });
