// Proves SPEC 13.9; ASVS 4.1.1, 11.2.1
import { createPublicKey, type KeyObject, type webcrypto } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { KEY_SET_MAX_AGE } from '../../src/adapters/http/routes/service/well-known.ts';
import { decode, servicesOverOneDatabase, signUp, tokenIn } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';
import { testKeyPair, testKeys } from '../support/keys.ts';
import { keyVariables } from '../support/processes/environments.ts';

const KEYS = testKeys();
const PATH = '/.well-known/jwks.json';
const MEMBERS = ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'];

const { start } = servicesOverOneDatabase();
const service = await start(keyVariables(KEYS));
const ada = await signUp(service);

type Jwk = webcrypto.JsonWebKey & { readonly kid: string };
const keySetOf = async ({ http }: TestService): Promise<Jwk[]> => (await http.get(PATH).expect(200)).body.keys;
const imported = (key: Jwk): KeyObject => createPublicKey({ key, format: 'jwk' });
describe('GET /.well-known/jwks.json', () => {
  it('is a JWK set (RFC 7517), not wrapped in an envelope', async () => {
    const response = await service.http.get(PATH).expect(200);
    expect(response.headers['content-type']).toBe('application/jwk-set+json');
    expect(Object.keys(response.body)).toEqual(['keys']);
    const { x, y } = KEYS.access.publicKeys[0]?.export({ format: 'jwk' }) ?? {};
    expect(response.body.keys).toEqual([
      { kty: 'EC', crv: 'P-256', x, y, kid: decode(ada.accessToken).header.kid, use: 'sig', alg: 'ES256' },
    ]);
  });

  it('may be stored by any cache for a limited time', async () => {
    const { headers } = await service.http.get(PATH).expect(200);
    expect(headers['cache-control']).toBe(`public, max-age=${KEY_SET_MAX_AGE}`);
    expect(headers).not.toHaveProperty('set-cookie');
  });

  it('contains neither a private key nor a key of refresh tokens', async () => {
    const keys = await keySetOf(service);
    for (const key of keys) expect(Object.keys(key).sort()).toEqual(MEMBERS);
    expect(keys.map(({ kid }) => kid)).not.toContain(decode(tokenIn(ada.cookie)).header.kid);
  });

  it('lists older keys after the current one, as long as they verify', async () => {
    const [older, newer] = [testKeyPair(), testKeyPair()];
    const access = { privateKey: newer.privateKey, publicKeys: [...newer.publicKeys, ...older.publicKeys] };
    const rotating = await start(keyVariables({ ...KEYS, access }));
    const keys = await keySetOf(rotating);
    expect(keys.map(imported).map((key, index) => key.equals(access.publicKeys[index] as KeyObject))).toEqual([
      true,
      true,
    ]);
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(2);
  });

  it('is empty when another signer is configured', async () => {
    const elsewhere = await start({}, () => ({ tokens: service.ports.tokens }));
    expect(await keySetOf(elsewhere)).toEqual([]);
  });
});
