import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { KeyPair } from '../../adapters/token-signer/keys.ts';

export const newPair = (): KeyPair => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, publicKeys: [publicKey] };
};

/** PKCS#8 (RFC 5958). */
export const privatePem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** SubjectPublicKeyInfo (RFC 5280 §4.1), one block for each key. */
export const publicPem = (keys: readonly KeyObject[]): string =>
  keys.map((key) => key.export({ type: 'spki', format: 'pem' }).toString()).join('');
