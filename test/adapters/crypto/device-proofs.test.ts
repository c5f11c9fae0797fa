import { createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifyDeviceProof } from '../../../src/adapters/crypto/proofs.ts';
import type { ProofTarget } from '../../../src/application/ports/proofs.ts';
import { compact, ecdsa, encoded, hmac, type Json, type Signer } from '../../support/forgeries/forge.ts';
import { joseDeviceKey } from '../../support/jose-proofs.ts';

const NOW = Date.UTC(2026, 10, 24, 12);
const IAT = NOW / 1000;
const METHOD = 'POST';
const URLS = ['https://auth.example.org/base/auth/refresh-token', 'http://localhost:3000/auth/refresh-token'] as const;
const TARGET: ProofTarget = { method: METHOD, urls: URLS };
const INVALID = { ok: false, reason: 'invalid' };

const ec = (namedCurve: string): KeyObject => generateKeyPairSync('ec', { namedCurve }).privateKey;
const jwkOf = (key: KeyObject): Record<'kty' | 'crv' | 'x' | 'y', string> => {
  const { kty, crv, x, y } = createPublicKey(key).export({ format: 'jwk' });
  return { kty, crv, x, y } as never;
};
const [KEY, OTHER] = [ec('P-256'), ec('P-256')];
const JWK = jwkOf(KEY);
const thumbprintOf = ({ crv, kty, x, y }: typeof JWK): string =>
  hash('sha256', JSON.stringify({ crv, kty, x, y }), 'base64url');

const HEADER = { typ: 'dpop+jwt', alg: 'ES256', jwk: JWK };
const CLAIMS = { htm: METHOD, htu: URLS[0], iat: IAT, jti: 'a-jti-0123456789' };

type Change = { readonly header?: unknown; readonly claims?: unknown; readonly signer?: Signer };

/** A proof of `KEY` with other parts. A text stands for itself, whatever JSON it is. */
const proof = ({ header = HEADER, claims = CLAIMS, signer = ecdsa(KEY) }: Change = {}): string =>
  compact(header, claims, signer);
const withClaims = (claims: Json): string => proof({ claims: { ...CLAIMS, ...claims } });
const withHeader = (header: Json, signer?: Signer): string =>
  proof({ header: { ...HEADER, ...header }, ...(signer && { signer }) });
const withJwk = (jwk: Json, signer?: Signer): string => withHeader({ jwk: { ...JWK, ...jwk } }, signer);
const without = <Given extends Json>(given: Given, name: keyof Given): Json => {
  const { [name]: _, ...rest } = given;
  return rest;
};

const swapped = (text: string, at: number) => text.slice(0, at) + (text[at] === 'B' ? 'C' : 'B') + text.slice(at + 1);

/** The same bytes with another last character, whose unused bits are set. */
const unusedBits = (part: string): string | null => {
  const bytes = Buffer.from(part, 'base64url');
  const others = Array.from(
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
    (last) => part.slice(0, -1) + last,
  );
  return others.find((other) => other !== part && Buffer.from(other, 'base64url').equals(bytes)) ?? null;
};

/** The middle of JSON with a member twice: readers take the first or the last one. */
const twice = (value: object, name: string, other: unknown): string[] => {
  const [text, member] = [JSON.stringify(value), `${JSON.stringify(name)}:${JSON.stringify(other)}`];
  return [`{${member},${text.slice(1)}`, `${text.slice(0, -1)},${member}}`];
};

/** Forgeries by what is wrong with them. Wycheproof's vectors have other signatures and keys. Each is signed where a signature is possible. */
const forgeries = (): Readonly<Record<string, readonly string[]>> => {
  const [rsa, p384] = [generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey, ec('P-384')];
  const secrets = [createPublicKey(KEY).export({ format: 'der', type: 'spki' }), JSON.stringify(JWK), ''];
  return {
    signature: [
      proof({ signer: ecdsa(OTHER) }),
      proof({ signer: () => Buffer.alloc(64) }),
      proof({ signer: ecdsa(KEY, 'sha384') }),
      `${proof().split('.').slice(0, 2).join('.')}.`,
      proof().split('.').slice(0, 2).join('.'),
    ],
    algorithm: [
      ...['none', 'None', '', 'ES384', 'es256', 'EdDSA'].map((alg) => withHeader({ alg })),
      withHeader({ alg: 'none' }, () => Buffer.alloc(0)),
      ...secrets.flatMap((secret) => ['HS256', 'ES256'].map((alg) => withHeader({ alg }, hmac(secret)))),
      ...['RS256', 'ES256'].map((alg) =>
        withHeader({ alg, jwk: createPublicKey(rsa).export({ format: 'jwk' }) as Json }, ecdsa(rsa)),
      ),
    ],
    key: [
      proof({ header: { ...HEADER, jwk: KEY.export({ format: 'jwk' }) } }),
      withHeader({ jwk: jwkOf(p384) }, ecdsa(p384, 'sha384')),
      ...[{ crv: 'P-384' }, { kty: 'RSA' }, { x: JWK.y, y: JWK.x }, { x: `${JWK.x}=` }].map((jwk) => withJwk(jwk)),
      ...[null, JSON.stringify(JWK), [JWK]].map((jwk) => withHeader({ jwk })),
    ],
    members: [
      ...(['typ', 'alg', 'jwk'] as const).map((name) => proof({ header: without(HEADER, name) })),
      ...(['htm', 'htu', 'iat', 'jti'] as const).map((name) => proof({ claims: without(CLAIMS, name) })),
      ...(['kty', 'crv', 'x', 'y'] as const).map((name) => withHeader({ jwk: without(JWK, name) })),
      ...[{ crit: ['x'], x: 1 }, { b64: false }, { kid: 'a' }, { jku: 'https://evil.example' }].map((more) =>
        withHeader(more),
      ),
      ...[{ use: 'sig' }, { alg: 'ES256' }].map((more) => withJwk(more)),
      ...[{ nonce: 'a' }, { ath: 'a' }, { exp: IAT + 60 }].map((more) => withClaims(more)),
      ...['JWT', 'DPOP+JWT', 'dbsc+jwt', null].map((typ) => withHeader({ typ })),
      ...twice(HEADER, 'jwk', jwkOf(OTHER)).map((header) => proof({ header })),
      ...twice(CLAIMS, 'htu', 'https://evil.example/').map((claims) => proof({ claims })),
      proof({ claims: ` ${JSON.stringify(CLAIMS)}` }),
      proof({ claims: JSON.stringify(CLAIMS).replace('"jti"', '"\\u006ati"') }),
      proof({ claims: JSON.stringify(CLAIMS).replace(String(IAT), `${IAT}.0`) }),
      proof({ claims: `{"__proto__":{},${JSON.stringify(CLAIMS).slice(1)}` }),
    ],
    types: [
      ...[String(IAT), IAT + 0.5, -1, 1e300, null].map((iat) => withClaims({ iat })),
      ...[1, null, '', 'a-jti-012345678', 'a'.repeat(65), 'a-jti-01234567 9'].map((jti) => withClaims({ jti })),
      ...[null, 1, [METHOD], ''].map((htm) => withClaims({ htm })),
      ...[null, 1, [URLS[0]], ''].map((htu) => withClaims({ htu })),
      ...[null, [], 'a text', '{', ''].flatMap((part) => [proof({ header: part }), proof({ claims: part })]),
    ],
    texts: [
      ...[
        '',
        '..',
        'a.b.c',
        '{}',
        '💥.💥.💥',
        'eyJ.eyJ.eyJ',
        `${proof()}.`,
        `.${proof()}`,
        `${proof()}=`,
        `${proof()}\n`,
      ],
      'a'.repeat(2 ** 20),
      withClaims({ htu: `${URLS[0]}?${'a'.repeat(2 ** 20)}` }),
      proof({ claims: `{"a":`.repeat(50_000) }),
    ],
    target: [
      ...['GET', 'post', 'POST '].map((htm) => withClaims({ htm })),
      ...[
        'https://auth.example.org/auth/refresh-token',
        ...['/', '?a=1', '#a', '/../login'].map((more) => URLS[0] + more),
        'https://auth.example.org.evil.example/base/auth/refresh-token',
        'https://auth.example.org@evil.example/base/auth/refresh-token',
        'https://auth.example.org:8443/base/auth/refresh-token',
        'ftp://auth.example.org/base/auth/refresh-token',
        ...['//auth.example.org/base/auth/refresh-token', '/base/auth/refresh-token'],
      ].map((htu) => withClaims({ htu })),
    ],
  };
};

const FORGED = forgeries();
const forged = (...kinds: readonly string[]): readonly string[] =>
  kinds.flatMap((kind) => FORGED[kind] ?? expect.unreachable());

const verify = (text: string, now = NOW, target = TARGET) =>
  verifyDeviceProof(text, target, now).catch((error: unknown) => expect.unreachable(`rejects: ${error}`));
const expectInvalid = async (texts: readonly string[]): Promise<void> => {
  for (const text of texts) expect(await verify(text), text.slice(0, 3_000)).toEqual(INVALID);
};
const numberOf = async (text: string, now = NOW): Promise<number> => {
  const outcome = await verify(text, now);
  return outcome.ok ? outcome.proof.number : expect.unreachable(outcome.reason);
};

const verifyFor = (url: string, text: string, now = NOW) => verify(text, now, { method: METHOD, urls: [url] });

describe('verifyDeviceProof', () => {
  it('returns the thumbprint of the key, also of a proof of another time, and the same number for the same proof', async () => {
    const outcome = await verify(proof());
    expect(outcome).toEqual({ ok: true, proof: { key: thumbprintOf(JWK), number: expect.any(Number) } });
    expect(await verify(withHeader({ jwk: jwkOf(OTHER) }, ecdsa(OTHER)))).toMatchObject({
      proof: { key: thumbprintOf(jwkOf(OTHER)) },
    });
    const ofOtherForm = proof({
      header: { jwk: { y: JWK.y, x: JWK.x, crv: JWK.crv, kty: JWK.kty }, alg: 'ES256', typ: HEADER.typ },
    });
    expect(await verify(ofOtherForm)).toEqual(outcome);
    // Signed again, and at another time.
    for (const now of [NOW - 50_000, NOW + 50_000]) expect(await verify(proof(), now)).toEqual(outcome);
    const late = { ok: false, reason: 'untimely', key: thumbprintOf(JWK) };
    expect(await verify(proof(), NOW + 3_600_000)).toEqual(late);
  });

  it('gives other proofs of a key other numbers, and proofs of a later second greater ones', async () => {
    const numbers: number[] = [];
    for (const iat of [IAT - 1, IAT, IAT + 1, 2 ** 32 - 1]) {
      const ofSecond: number[] = [];
      for (let jti = 0; jti < 200; jti += 1)
        ofSecond.push(await numberOf(withClaims({ iat, jti: `a-jti-of-number-${jti}` }), iat * 1_000));
      expect(new Set(ofSecond).size).toBe(ofSecond.length);
      expect(Math.min(...ofSecond)).toBeGreaterThan(Math.max(0, ...numbers));
      numbers.push(...ofSecond);
    }
    expect(numbers.filter((number) => !Number.isSafeInteger(number))).toEqual([]);
  });

  it('rejects a proof for another method, host or path', async () => {
    for (const url of URLS)
      for (const htu of [url, url.replace(/^https?/, 'http'), url.replace(/^https?/, 'https')])
        expect(await verify(withClaims({ htu })), htu).toMatchObject({ ok: true });
    expect(await verify(proof(), NOW, { method: METHOD, urls: [] })).toEqual(INVALID);
    expect(await verify(proof(), NOW, { method: 'DELETE', urls: URLS })).toEqual(INVALID);
    await expectInvalid(forged('target'));
  });

  it('accepts `ath` for the access token of the request alone, and demands it', async () => {
    const accessToken = 'a.b.c';
    const ath = hash('sha256', accessToken, 'base64url');
    const withToken = (text: string) => verify(text, NOW, { ...TARGET, accessToken });
    expect(await withToken(withClaims({ ath }))).toMatchObject({ ok: true });
    for (const text of [proof(), withClaims({ ath: `${ath}=` }), withClaims({ ath: accessToken })])
      expect(await withToken(text)).toEqual(INVALID);
    expect(await verify(withClaims({ ath }))).toEqual(INVALID);
  });

  it('accepts a proof of up to a minute before or after its clock, and calls others untimely', async () => {
    for (const off of [-60, -59, -1, 0, 1, 59, 60])
      expect(await verify(withClaims({ iat: IAT + off })), `${off} s`).toMatchObject({ ok: true });
    for (const off of [-IAT, -86_400, -61, 61, 3_600, 86_400])
      expect(await verify(withClaims({ iat: IAT + off })), `${off} s`).toMatchObject({ ok: false, reason: 'untimely' });
    expect(await verify(proof(), NOW + 60_001)).toMatchObject({ ok: false, reason: 'untimely' });
    expect(await verify(proof(), NOW - 60_001)).toMatchObject({ ok: false, reason: 'untimely' });
  });

  it('calls a proof untimely only if all else is right', async () => {
    for (const text of forged(...Object.keys(FORGED)))
      expect(await verify(text, NOW + 3_600_000), text.slice(0, 3_000)).toEqual(INVALID);
  });

  it('rejects a proof that was changed in any part', async () => {
    const text = proof();
    expect(await verify(text)).toMatchObject({ ok: true });
    await expectInvalid(Array.from(text, (_, at) => swapped(text, at)));
    const parts = text.split('.');
    const others = parts.map((part, at) => parts.with(at, unusedBits(part) ?? `${part}=`).join('.'));
    await expectInvalid(others);
    // Though it is signed.
    const claims = [CLAIMS, { ...CLAIMS, jti: `${CLAIMS.jti}a` }, { ...CLAIMS, jti: `${CLAIMS.jti}ab` }];
    const rewritten = claims.flatMap((each) => unusedBits(encoded(each)) ?? []);
    expect(rewritten.length).toBeGreaterThan(0);
    for (const part of rewritten) {
      const input = `${encoded(HEADER)}.${part}`;
      await expectInvalid([`${input}.${ecdsa(KEY)(Buffer.from(input)).toString('base64url')}`]);
    }
  });

  it('rejects a proof that is signed with another key or algorithm, or not at all', () =>
    expectInvalid(forged('signature', 'algorithm')));

  it('rejects a key that is private, of another curve, or no point of the curve', () => expectInvalid(forged('key')));

  it('rejects a header or claims with unknown, missing or duplicate members', () =>
    expectInvalid(forged('members', 'types')));

  it('rejects a text that is not a proof', () => expectInvalid(forged('texts')));

  it('accepts proofs by jose, with the thumbprints that jose computes', async () => {
    for (let key = 0; key < 20; key += 1) {
      const { proof, thumbprint } = await joseDeviceKey();
      expect(await verifyFor(URLS[0], await proof({ htu: URLS[0], now: NOW }))).toMatchObject({
        ok: true,
        proof: { key: thumbprint },
      });
    }
  });

  it('accepts the proof of RFC 9449', async () => {
    const text =
      'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg';
    const key = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I';
    const url = 'https://server.example.com/token';
    expect(await verifyFor(url, text, 1_562_262_616_000)).toMatchObject({ ok: true, proof: { key } });
    expect(await verifyFor(url, text)).toEqual({ ok: false, reason: 'untimely', key });
  });

  it('accepts a proof for an address of 1,000 characters, and none of more than 2,048', async () => {
    const { proof } = await joseDeviceKey();
    const ofLength = (length: number) => URLS[0].padEnd(length, 'a');
    expect(await verifyFor(ofLength(1_000), await proof({ htu: ofLength(1_000), now: NOW }))).toMatchObject({
      ok: true,
    });
    const long = await proof({ htu: ofLength(1_300), now: NOW });
    expect(long.length).toBeGreaterThan(2_048);
    expect(await verifyFor(ofLength(1_300), long)).toEqual({ ok: false, reason: 'invalid' });
  });
});
