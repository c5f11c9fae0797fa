import { createECDH, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Chance } from './chance.ts';

/** A key of P-256 that the seed decides. */
export const keyOf = (chance: Chance): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } => {
  const curve = createECDH('prime256v1');
  // Less than the order of the curve.
  curve.setPrivateKey(Buffer.concat([Buffer.of(1), chance.bytes(31)]));
  const point = curve.getPublicKey();
  const text = (bytes: Buffer) => bytes.toString('base64url');
  const [x, y, d] = [text(point.subarray(1, 33)), text(point.subarray(33)), text(curve.getPrivateKey())];
  const privateKey = createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d }, format: 'jwk' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
};
