import { createPublicKey, type KeyObject } from 'node:crypto';
import { verifySignature } from '@simplewebauthn/server/helpers';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { assertionVerifier } from '../../../src/adapters/crypto/assertions.ts';
import {
  decodeObject,
  isSignedBy,
  jwsProblem,
  nodeCryptoTokenSigner,
  P256_JWK,
  publicKeyOf,
} from '../../../src/adapters/crypto/jws.ts';
import { verifyBrowserProof, verifyDeviceProof } from '../../../src/adapters/crypto/proofs.ts';
import { coseKey } from '../../support/authenticator.ts';
import { readText } from '../../support/checkout/repository.ts';
import { testKeyPair } from '../../support/keys.ts';

type Vector = {
  readonly id: string;
  readonly isValid: boolean;
  readonly key: string;
  readonly input: string;
  readonly signature: string;
};
const VECTORS = new Map<string, Vector[]>();
let above = '';
for (const line of readText('test/adapters/crypto/wycheproof.tsv').trimEnd().split('\n')) {
  if (line.startsWith('#')) continue;
  const [file = '', number, result, key = '', input = '', signature = ''] = line.split('\t');
  above = key || above;
  const vector = { id: `${file} ${number}`, isValid: result === 'valid', key: above, input, signature };
  VECTORS.set(file, [...(VECTORS.get(file) ?? []), vector]);
}

/** Expects of each vector of a file that it is accepted if it is valid, and that otherwise nothing is thrown. */
const expectVerdicts = async (
  file: string,
  count: number,
  accepts: (vector: Vector) => boolean | Promise<boolean>,
): Promise<void> => {
  const vectors = VECTORS.get(file) ?? [];
  expect(vectors).toHaveLength(count);
  const wrong: string[] = [];
  for (const vector of vectors) if ((await accepts(vector)) !== vector.isValid) wrong.push(vector.id);
  expect(wrong).toEqual([]);
};

const p256 = (key: string): KeyObject | null => {
  const [x = '', y = ''] = key.split('.');
  return publicKeyOf({ x, y });
};
const ed25519 = (x: string): KeyObject => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
const bytes = (hex: string) => Buffer.from(hex, 'hex');

/** As a token or a proof is accepted, but for its claims. */
const isAccepted = (text: string, key: KeyObject | null, signed = text): boolean =>
  jwsProblem(text, 10_000) === null && key !== null && isSignedBy(signed, key);

/** As the library verifies an assertion of a passkey, and `verifyUse` takes what it throws. */
const isAsserted = async (key: KeyObject, { input, signature }: Vector): Promise<boolean> => {
  const [data, credentialPublicKey] = [bytes(input), coseKey(key)].map((each) => Uint8Array.from(each));
  const given = { signature: Uint8Array.from(bytes(signature)), data, credentialPublicKey };
  try {
    return await verifySignature(given as Parameters<typeof verifySignature>[0]);
  } catch {
    return false;
  }
};

describe("Wycheproof's vectors", () => {
  it('of ES256 with r and s: signatures of tokens and proofs', () =>
    expectVerdicts('es256', 99, ({ key, input, signature }) => {
      const encoded = bytes(signature).toString('base64url');
      return isAccepted(`e30.e30.${encoded}`, p256(key), `${bytes(input).toString()}.${encoded}`);
    }));

  it('of Ed25519: assertions of passkeys', () =>
    expectVerdicts('ed25519', 73, (vector) => isAsserted(ed25519(vector.key), vector)));

  it('of keys on P-256: those of proofs', () =>
    expectVerdicts('jwk', 35, ({ key }) => {
      const jwk: unknown = JSON.parse(key);
      return v.is(v.strictObject(P256_JWK), jwk) && publicKeyOf(jwk) !== null;
    }));

  it('of JWS with ES256', () =>
    expectVerdicts('jws', 39, ({ key, input }) => {
      const header = decodeObject(input.split('.')[0] ?? '');
      return header?.alg === 'ES256' && isAccepted(input, p256(key));
    }));

  it('of JWS, which are no tokens, proofs or assertions, are refused as such', async () => {
    for (const { id, key, input } of VECTORS.get('jws') ?? []) {
      const known = p256(key);
      if (known === null) return expect.unreachable(id);
      const pair = { ...testKeyPair(), publicKeys: [known] };
      const tokens = await nodeCryptoTokenSigner({ access: pair, refresh: pair });
      const now = Date.UTC(2026, 0, 1);
      expect([await tokens.verifyAccess(input, now), await tokens.verifyRefresh(input, now)], id).toMatchObject([
        { ok: false },
        { ok: false },
      ]);
      expect(await verifyDeviceProof(input, { method: 'POST', urls: ['https://a.example/'] }, now), id).toMatchObject({
        ok: false,
      });
      expect(await verifyBrowserProof(input, key), id).toBeNull();
      expect(await assertionVerifier([known], 'https://a.example')(input, now), id).toHaveProperty('problem');
    }
  });
});
