import { describe, expect, it } from 'vitest';
import { verifyBrowserProof } from '../../../src/adapters/crypto/proofs.ts';
import { type BrowserKey, browserKey } from '../../support/browser-key.ts';
import { ecdsa, encoded, hmac, type Json, partsOf } from '../../support/forgeries/forge.ts';

const [CHALLENGE, AUTHORIZATION] = ['user.session.1.2', 'user.session.3.'];
const RENEWAL = { alg: 'ES256', typ: 'dbsc+jwt' };
const CLAIMS = { authorization: AUTHORIZATION, jti: CHALLENGE };

const registered = (browser: BrowserKey) => ({ key: browser.key, challenge: CHALLENGE, authorization: AUTHORIZATION });
const header = (browser: BrowserKey, given: Json = {}) => ({
  alg: 'ES256',
  jwk: browser.jwk,
  typ: 'dbsc+jwt',
  ...given,
});
const expectRejected = async (text: string, key: string | null = null): Promise<void> => {
  expect(await verifyBrowserProof(text, key)).toBeNull();
};

describe('verifyBrowserProof', () => {
  it('returns the key, the challenge and the authorization of a registration', async () => {
    const browser = browserKey();
    const text = browser.registration(CHALLENGE, AUTHORIZATION);
    expect(await verifyBrowserProof(text, null)).toEqual(registered(browser));
  });

  it('returns the challenge of a renewal', async () => {
    const browser = browserKey();
    const proof = await verifyBrowserProof(browser.renewal(CHALLENGE), browser.key);
    expect(proof).toEqual({ key: browser.key, challenge: CHALLENGE, authorization: null });
  });

  it('accepts further claims and parameters', async () => {
    const browser = browserKey();
    const claims = { aud: 'https://auth.example.org/auth/device', ...CLAIMS, iat: 1_767_225_600, sub: 'x' };
    const text = browser.sign(header(browser, { kid: 'x', jwk: { ...browser.jwk, use: 'sig' } }), claims);
    expect(await verifyBrowserProof(text, null)).toEqual(registered(browser));
  });

  it('rejects a registration without a key, and a renewal that brings one', async () => {
    const browser = browserKey();
    await expectRejected(browser.sign(RENEWAL, CLAIMS));
    await expectRejected(browser.registration(CHALLENGE, AUTHORIZATION), browser.key);
  });

  it('rejects a renewal that is signed with another key', async () => {
    const [browser, other] = [browserKey(), browserKey()];
    await expectRejected(other.renewal(CHALLENGE), browser.key);
    await expectRejected(other.sign(header(browser), CLAIMS));
    await expectRejected(other.sign(header(other), { jti: CHALLENGE }), browser.key);
    for (const key of ['', '.', 'x.y', `${browser.key}.`]) {
      const proof = await verifyBrowserProof(other.renewal(CHALLENGE), key);
      expect(proof).toBeNull();
    }
  });

  it('rejects a proof that was changed in any part', async () => {
    const browser = browserKey();
    const text = browser.renewal(CHALLENGE);
    const [head, claims, signature] = partsOf(text);
    await expectRejected(`${head}.${encoded({ jti: 'another' })}.${signature}`, browser.key);
    await expectRejected(`${encoded({ ...RENEWAL, kid: 'x' })}.${claims}.${signature}`, browser.key);
    for (const [at, character] of [...signature].entries()) {
      const changed = `${signature.slice(0, at)}${character === 'A' ? 'B' : 'A'}${signature.slice(at + 1)}`;
      await expectRejected(`${head}.${claims}.${changed}`, browser.key);
    }
  });

  it('rejects a proof that is signed with another algorithm, or not at all', async () => {
    const browser = browserKey();
    const claims = { jti: CHALLENGE };
    const signers = [
      ...['none', 'HS256', 'es256', null].map((alg) => [alg, ecdsa(browser.privateKey)] as const),
      ['none', () => Buffer.alloc(0)] as const,
      ...['HS256', 'ES256'].map((alg) => [alg, hmac(JSON.stringify(browser.jwk))] as const),
      ['ES256', ecdsa(browser.privateKey, 'sha512')] as const,
    ];
    for (const [alg, signer] of signers)
      await expectRejected(browser.sign({ ...RENEWAL, alg }, claims, signer), browser.key);
  });

  it('rejects a key that is private, of another curve, or no point of the curve', async () => {
    const browser = browserKey();
    const { d } = browser.privateKey.export({ format: 'jwk' });
    for (const other of [{ d }, { y: browser.jwk.x }, { crv: 'P-384' }, { kty: 'oct' }, { x: undefined }])
      await expectRejected(browser.registration(CHALLENGE, AUTHORIZATION, { jwk: { ...browser.jwk, ...other } }));
  });

  it('rejects a proof of another type, with missing or duplicate members, or with parameters that are critical', async () => {
    const browser = browserKey();
    for (const given of [{ typ: 'dpop+jwt' }, { typ: undefined }, { crit: ['x'], x: 1 }])
      await expectRejected(browser.registration(CHALLENGE, AUTHORIZATION, given));
    for (const claims of [{}, { jti: 1 }, { jti: CHALLENGE, authorization: null }, [], 'x', null])
      await expectRejected(browser.sign(header(browser), claims));
    const twice = (json: string) => `${json.slice(0, -1)},${json.slice(1)}`;
    await expectRejected(browser.sign(header(browser), twice(JSON.stringify(CLAIMS))));
    await expectRejected(browser.sign(twice(JSON.stringify(header(browser))), CLAIMS));
  });

  it('rejects a text that is not a proof', async () => {
    const browser = browserKey();
    const text = browser.renewal(CHALLENGE);
    for (const other of ['', '..', 'null', `${text} `, `${text}.`, browser.renewal('x'.repeat(4_096))])
      await expectRejected(other, browser.key);
  });
});
