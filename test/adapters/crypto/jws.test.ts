// Proves SPEC 2.7, 3.6, 3.7, 3.8, 4.6, 10.3, 13.5, 13.11; ASVS 9.1.2, 9.1.3, 9.2.1, 9.2.2, 11.4.3; network-3
import { createHash, type KeyObject, sign } from 'node:crypto';
import { calculateJwkThumbprint, jwtVerify, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { nodeCryptoTokenSigner, rememberingTokenSigner } from '../../../src/adapters/crypto/jws.ts';
import type { KeyPair } from '../../../src/adapters/crypto/token-keys.ts';
import type { TokenProblem } from '../../../src/application/ports/token-signer.ts';
import type { AccessClaims, RefreshClaims } from '../../../src/domain/tokens.ts';
import { describeTokenSigner } from '../../contracts/token-signer.contract.ts';
import { plainTokenSigner } from '../../support/fakes.ts';
import { testKeyPair, testKeys } from '../../support/keys.ts';

describeTokenSigner('nodeCryptoTokenSigner', () => nodeCryptoTokenSigner(testKeys()));
describeTokenSigner('rememberingTokenSigner', async () =>
  rememberingTokenSigner(await nodeCryptoTokenSigner(testKeys())),
);
describeTokenSigner('plainTokenSigner', async (key) => plainTokenSigner(key));

const NOW = Date.UTC(2026, 0, 1);
const IAT = NOW / 1000;
const SUB = '01J00000000000000000000001';
const SID = '01J00000000000000000000004';
const USER = { id: SUB, username: 'Ada', email: 'ada@example.org', createdAt: NOW - 86_400_001, updatedAt: NOW };
const ACCESS: AccessClaims = {
  sub: SUB,
  iat: IAT,
  exp: IAT + 900,
  jti: '01J00000000000000000000002',
  tokenType: 'access',
  user: USER,
};
const REFRESH: RefreshClaims = {
  sub: SUB,
  iat: IAT,
  exp: IAT + 604_800,
  jti: '01J00000000000000000000003',
  tokenType: 'refresh',
};

const ISSUED = { claims: REFRESH, sessionId: SID, rotation: 7 };

const json = (part: string | undefined) => JSON.parse(Buffer.from(part ?? '', 'base64url').toString());
const opened = (token: string) => {
  const [header, payload] = token.split('.');
  return { header: json(header), payload: json(payload) };
};
const signed = (claims: AccessClaims) => ({ claims, sessionId: SID });
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** RFC 7638 §3: the required members in the order of their names. */
const thumbprint = (keys: readonly KeyObject[]) => {
  const { crv, kty, x, y } = keys[0]?.export({ format: 'jwk' }) ?? {};
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
};

/** A token with a valid signature and any content. */
const forged = (key: KeyObject, header: object, payload: unknown) => {
  const text = `${base64url(header)}.${base64url(payload)}`;
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
};

describe('nodeCryptoTokenSigner', () => {
  const setUp = async () => {
    const keys = testKeys();
    const header = { alg: 'ES256', typ: 'JWT', kid: thumbprint(keys.access.publicKeys), sid: SID };
    const payload = {
      ...ACCESS,
      user: { ...USER, createdAt: '2025-12-30T23:59:59.999Z', updatedAt: '2026-01-01T00:00:00.000Z' },
    };
    return { keys, signer: await nodeCryptoTokenSigner(keys), header, payload };
  };

  it('writes exactly the header and the claims of the specification, with times of the user in ISO 8601', async () => {
    const { keys, signer, header, payload } = await setUp();
    expect(opened(await signer.signAccess(signed(ACCESS)))).toEqual({ header, payload });
    expect(opened(await signer.signRefresh(ISSUED))).toEqual({
      header: { ...header, kid: thumbprint(keys.refresh.publicKeys), rot: 7 },
      payload: REFRESH,
    });
  });

  it('writes and reads the attributes of a user who has some, whether or not the token says how they have authenticated', async () => {
    const { signer } = await setUp();
    const attributes = { roles: ['admin'], team: { name: 'ä🔑', lead: null } };
    for (const more of [{}, { auth_time: IAT, amr: ['pwd'], acr: 'aal1' } as const]) {
      const token = await signer.signAccess(signed({ ...ACCESS, ...more, attributes }));
      expect(opened(token).payload).toMatchObject({ attributes });
      expect(await signer.verifyAccess(token, NOW)).toMatchObject({ ok: true, token: { claims: { attributes } } });
    }
  });

  it('verifies with an older key as long as that is among the public keys', async () => {
    const [older, newer] = [testKeyPair(), testKeyPair()];
    const refresh = testKeyPair();
    const before = await nodeCryptoTokenSigner({ access: older, refresh });
    const both = { privateKey: newer.privateKey, publicKeys: [...newer.publicKeys, ...older.publicKeys] };
    const during = await nodeCryptoTokenSigner({ access: both, refresh });
    const after = await nodeCryptoTokenSigner({ access: newer, refresh });

    const token = await before.signAccess(signed(ACCESS));
    expect((await during.verifyAccess(token, NOW)).ok).toBe(true);
    expect((await after.verifyAccess(token, NOW)).ok).toBe(false);
    expect((await after.verifyAccess(await during.signAccess(signed(ACCESS)), NOW)).ok).toBe(true);
  });

  it('accepts a token whose iat is in the future', async () => {
    const { signer } = await setUp();
    expect((await signer.verifyAccess(await signer.signAccess(signed(ACCESS)), NOW - 3_600_000)).ok).toBe(true);
  });

  it('refuses an access token for one of the known reasons, without content of the token, though it is signed', async () => {
    const { keys, signer, header, payload } = await setUp();
    const [attacker, { exp: _, ...endless }] = [testKeyPair(), payload];
    const withHeader = (given: object) => forged(keys.access.privateKey, { ...header, ...given }, payload);
    const having = (given: unknown) => forged(keys.access.privateKey, header, given);
    const withClaims = (given: object) => having({ ...payload, ...given });
    const ofUser = (given: object) => withClaims({ user: { ...payload.user, ...given } });
    const withKey = { jwk: attacker.publicKeys[0]?.export({ format: 'jwk' }) };
    const examples: Readonly<Record<Exclude<TokenProblem, `proof_${string}`>, readonly string[]>> = {
      too_long: ['x'.repeat(8_193)],
      malformed: ['', `${withHeader({})} `, ...[null, [], 'text'].map(having), withHeader({ alg: undefined })],
      unsupported: [
        ...['none', 'HS256', 'ES384'].map((alg) => withHeader({ alg })),
        ...[
          { crit: ['x'], x: 1 },
          { crit: ['b64'], b64: false },
        ].map(withHeader),
      ],
      unknown_key: [
        await signer.signRefresh(ISSUED),
        ...[undefined, 7, '__proto__', thumbprint(testKeyPair().publicKeys)].map((kid) => withHeader({ kid })),
        forged(attacker.privateKey, { ...header, ...withKey, kid: thumbprint(attacker.publicKeys) }, payload),
      ],
      invalid_signature: [keys.refresh, attacker].map((pair) =>
        forged(pair.privateKey, { ...header, ...withKey }, payload),
      ),
      expired: [withClaims({ exp: IAT })],
      wrong_issuer_or_audience: [withClaims({ iss: 'https://other.example' })],
      unexpected_claims: [
        ...['at+jwt', undefined].map((typ) => withHeader({ typ })),
        ...[undefined, 7, null, 'session'].map((sid) => withHeader({ sid })),
        ...[{}, endless].map(having),
        ...[String(payload.exp), payload.exp + 0.5, null, 2 ** 53].map((exp) => withClaims({ exp })),
        ...[{ sub: 'x' }, { jti: '' }, { nbf: payload.exp }, { scope: '*' }].map(withClaims),
        ...[{ iat: null }, { sub: 7 }, { jti: undefined }, { tokenType: 'ACCESS' }, { user: null }].map(withClaims),
        ...[{ admin: true }, { attributes: 'admin' }, { attributes: null }].map(withClaims),
        ...[NOW, 'yesterday', '2026', '2026-01-01T00:00:00+05'].map((createdAt) => ofUser({ createdAt })),
        ofUser({ passwordHash: 'x' }),
      ],
    };
    for (const [reason, texts] of Object.entries(examples))
      for (const text of texts) expect(await signer.verifyAccess(text, NOW), text).toEqual({ ok: false, reason });
  });

  it('refuses a refresh token of another type, with a claim too many, of no session, or without its number in it', async () => {
    const { keys, signer } = await setUp();
    const header = { alg: 'ES256', typ: 'JWT', kid: thumbprint(keys.refresh.publicKeys), sid: SID, rot: 7 };
    const isAccepted = async (given: object, claims: object = {}) => {
      const token = forged(keys.refresh.privateKey, { ...header, ...given }, { ...REFRESH, ...claims });
      return (await signer.verifyRefresh(token, NOW)).ok;
    };
    expect(await isAccepted({})).toBe(true);
    for (const claims of [{ tokenType: 'access' }, { sid: SID }]) expect(await isAccepted({}, claims)).toBe(false);
    for (const sid of [undefined, 7, null]) expect(await isAccepted({ sid })).toBe(false);
    for (const rot of [undefined, null, '7', -1, 0.5]) expect(await isAccepted({ rot }), `${rot}`).toBe(false);
  });
});

it('jose verifies what the service signs, and the service what jose signs', async () => {
  const [keys, parties] = [testKeys(), { issuer: 'https://auth.example', audience: 'https://api.example' }];
  const signer = await nodeCryptoTokenSigner(keys, parties);
  const again = async (token: string, { privateKey, publicKeys: [key = expect.unreachable()] }: KeyPair) => {
    const options = { ...parties, algorithms: ['ES256'], typ: 'JWT', currentDate: new Date(NOW) };
    const { payload, protectedHeader } = await jwtVerify(token, key, options);
    expect(protectedHeader.kid).toBe(await calculateJwkThumbprint(key));
    return new SignJWT(payload).setProtectedHeader(protectedHeader).sign(privateKey);
  };
  const access = await again(await signer.signAccess(signed(ACCESS)), keys.access);
  expect(await signer.verifyAccess(access, NOW)).toEqual({ ok: true, token: signed(ACCESS) });
  const signedByJose = await again(await signer.signRefresh(ISSUED), keys.refresh);
  expect(await signer.verifyRefresh(signedByJose, NOW)).toEqual({ ok: true, token: ISSUED });
});

describe('rememberingTokenSigner', () => {
  /** A signer that counts its verifications. */
  const counting = async (max?: number) => {
    const inner = await nodeCryptoTokenSigner(testKeys());
    const seen: string[] = [];
    const signer = rememberingTokenSigner(
      {
        ...inner,
        verifyAccess: (token, now) => {
          seen.push(token);
          return inner.verifyAccess(token, now);
        },
        verifyRefresh: (token, now) => {
          seen.push(token);
          return inner.verifyRefresh(token, now);
        },
      },
      max === undefined ? {} : { max },
    );
    const sign = (jti: string) => signer.signAccess(signed({ ...ACCESS, jti }));
    return { inner, signer, seen, sign };
  };
  const jtiOf = (index: number) => `01J0000000000000000000${String(index).padStart(4, '0')}`;

  it('verifies a token once', async () => {
    const { signer, seen, sign } = await counting();
    const token = await sign(jtiOf(1));
    for (let count = 0; count < 3; count += 1) {
      expect(await signer.verifyAccess(token, NOW)).toEqual({ ok: true, token: signed({ ...ACCESS, jti: jtiOf(1) }) });
    }
    expect(seen).toEqual([token]);
  });

  it('returns for a refresh token that it issued what a verification returns, without one', async () => {
    const { inner, signer, seen } = await counting();
    const token = await signer.signRefresh(ISSUED);
    expect(await signer.verifyRefresh(token, NOW)).toStrictEqual(await inner.verifyRefresh(token, NOW));
    expect(seen).toEqual([]);
  });

  it('verifies a refresh token that comes again, or that another instance issued', async () => {
    const { inner, signer, seen } = await counting();
    const [issued, foreign] = [await signer.signRefresh(ISSUED), await inner.signRefresh(ISSUED)];
    for (const token of [issued, issued, foreign]) {
      expect(await signer.verifyRefresh(token, NOW)).toEqual({ ok: true, token: ISSUED });
    }
    expect(seen).toEqual([issued, foreign]);
  });

  it('forgets the refresh token that was issued first when there are too many', async () => {
    const { signer, seen } = await counting(2);
    const tokens: string[] = [];
    for (const rotation of [1, 2, 3]) tokens.push(await signer.signRefresh({ ...ISSUED, rotation }));
    for (const token of tokens) expect((await signer.verifyRefresh(token, NOW)).ok).toBe(true);
    expect(seen).toEqual(tokens.slice(0, 1));
  });

  it('keeps what it issued apart from the object of the caller', async () => {
    const { signer } = await counting();
    const given = structuredClone(ISSUED);
    const token = await signer.signRefresh(given);
    Object.assign(given.claims, { sub: '01J00000000000000000009999' });
    expect(await signer.verifyRefresh(token, NOW)).toEqual({ ok: true, token: ISSUED });
  });

  it('forgets the token that was not used for longest when there are too many', async () => {
    const { signer, seen, sign } = await counting(3);
    const tokens = await Promise.all([1, 2, 3, 4].map((index) => sign(jtiOf(index))));
    const [first = '', second = '', third = '', fourth = ''] = tokens;
    for (const token of [first, second, third, first, fourth]) await signer.verifyAccess(token, NOW);
    expect(seen).toEqual([first, second, third, fourth]);
    for (const token of [first, third, fourth, second]) await signer.verifyAccess(token, NOW);
    expect(seen).toEqual([first, second, third, fourth, second]);
  });

  it('returns what no caller can change for the next one', async () => {
    const { signer, sign } = await counting();
    const token = await sign(jtiOf(1));
    for (let count = 0; count < 2; count += 1) {
      const verified = await signer.verifyAccess(token, NOW);
      if (!verified.ok) expect.unreachable(verified.reason);
      for (const part of [verified.token, verified.token.claims, verified.token.claims.user]) {
        expect(Object.isFrozen(part)).toBe(true);
      }
    }
  });
});
