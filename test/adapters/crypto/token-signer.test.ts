import { createHash, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { TokenKeys } from '../../../src/adapters/crypto/token-keys.ts';
import { nodeCryptoTokenSigner, rememberingTokenSigner } from '../../../src/adapters/crypto/token-signer.ts';
import type { TokenProblem } from '../../../src/application/ports/token-signer.ts';
import type { AccessClaims, RefreshClaims } from '../../../src/domain/tokens.ts';
import { describeTokenSigner } from '../../contracts/token-signer.contract.ts';
import { plainTokenSigner } from '../../support/fakes.ts';
import { joseTokenSigner } from '../../support/jose-signer.ts';
import { testKeyPair, testKeys } from '../../support/keys.ts';

const remembering: typeof nodeCryptoTokenSigner = async (...given) =>
  rememberingTokenSigner(await nodeCryptoTokenSigner(...given));
const SIGNERS = { nodeCryptoTokenSigner, rememberingTokenSigner: remembering };

describeTokenSigner('nodeCryptoTokenSigner', () => nodeCryptoTokenSigner(testKeys()));
describeTokenSigner('rememberingTokenSigner', () => remembering(testKeys()));
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

describe.each(Object.entries(SIGNERS))('%s', (_name, makeSigner) => {
  const setUp = async () => {
    const keys = testKeys();
    const header = { alg: 'ES256', typ: 'JWT', kid: thumbprint(keys.access.publicKeys), sid: SID };
    const payload = {
      ...ACCESS,
      user: { ...USER, createdAt: '2025-12-30T23:59:59.999Z', updatedAt: '2026-01-01T00:00:00.000Z' },
    };
    return { keys, signer: await makeSigner(keys), header, payload };
  };

  it('writes algorithm, type, key and session into the header, and the number of a refresh token', async () => {
    const { keys, signer } = await setUp();
    expect(opened(await signer.signAccess(signed(ACCESS))).header).toEqual({
      alg: 'ES256',
      typ: 'JWT',
      kid: thumbprint(keys.access.publicKeys),
      sid: SID,
    });
    expect(opened(await signer.signRefresh({ claims: REFRESH, sessionId: SID, rotation: 7 })).header).toEqual({
      alg: 'ES256',
      typ: 'JWT',
      kid: thumbprint(keys.refresh.publicKeys),
      sid: SID,
      rot: 7,
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

  it.each([
    ['a text', 'admin'],
    ['null', null],
  ])('rejects attributes that are %s', async (_what, attributes) => {
    const { keys, signer, header, payload } = await setUp();
    const token = forged(keys.access.privateKey, header, { ...payload, attributes });
    expect(await signer.verifyAccess(token, NOW)).toEqual({ ok: false, reason: 'unexpected_claims' });
  });

  it('writes exactly the claims of the specification, with times of the user in ISO 8601', async () => {
    const { signer } = await setUp();
    expect(opened(await signer.signAccess(signed(ACCESS))).payload).toEqual({
      sub: SUB,
      iat: IAT,
      exp: IAT + 900,
      jti: ACCESS.jti,
      tokenType: 'access',
      user: {
        id: SUB,
        username: 'Ada',
        email: 'ada@example.org',
        createdAt: '2025-12-30T23:59:59.999Z',
        updatedAt: '2026-01-01T00:00:00.000Z',
      },
    });
    expect(opened(await signer.signRefresh({ claims: REFRESH, sessionId: SID, rotation: 7 })).payload).toEqual({
      sub: SUB,
      iat: IAT,
      exp: IAT + 604_800,
      jti: REFRESH.jti,
      tokenType: 'refresh',
    });
  });

  it('leaves out of the token what a public user does not have', async () => {
    const { signer } = await setUp();
    const user = { ...USER, passwordHash: '$2b$10$secret' };
    expect(await signer.signAccess(signed({ ...ACCESS, user }))).toBeTypeOf('string');
    expect(Object.keys(opened(await signer.signAccess(signed({ ...ACCESS, user }))).payload.user)).not.toContain(
      'passwordHash',
    );
  });

  it('verifies with an older key as long as that is among the public keys', async () => {
    const [older, newer] = [testKeyPair(), testKeyPair()];
    const refresh = testKeyPair();
    const before = await makeSigner({ access: older, refresh });
    const both = { privateKey: newer.privateKey, publicKeys: [...newer.publicKeys, ...older.publicKeys] };
    const during = await makeSigner({ access: both, refresh });
    const after = await makeSigner({ access: newer, refresh });

    const token = await before.signAccess(signed(ACCESS));
    expect((await during.verifyAccess(token, NOW)).ok).toBe(true);
    expect((await after.verifyAccess(token, NOW)).ok).toBe(false);
    expect((await after.verifyAccess(await during.signAccess(signed(ACCESS)), NOW)).ok).toBe(true);
  });

  it('distinguishes the two kinds of tokens by their type, even if one key pair signs both', async () => {
    const pair = testKeyPair();
    const signer = await makeSigner({ access: pair, refresh: pair } satisfies TokenKeys);
    expect((await signer.verifyRefresh(await signer.signAccess(signed(ACCESS)), NOW)).ok).toBe(false);
    const refresh = await signer.signRefresh({ claims: REFRESH, sessionId: SID, rotation: 7 });
    expect(await signer.verifyAccess(refresh, NOW)).toEqual({ ok: false, reason: 'unexpected_claims' });
  });

  it('accepts a token of the same form by another implementation', async () => {
    const { keys, signer, header, payload } = await setUp();
    const token = forged(keys.access.privateKey, header, payload);
    expect(await signer.verifyAccess(token, NOW)).toEqual({ ok: true, token: signed(ACCESS) });
  });

  it('refuses a header that names no key, a foreign key, another algorithm or another type', async () => {
    const { keys, signer, header, payload } = await setUp();
    const headers = [
      { alg: 'ES256', typ: 'JWT', sid: SID },
      { ...header, kid: thumbprint(testKeyPair().publicKeys) },
      { ...header, kid: 7 },
      { ...header, kid: '__proto__' },
      { ...header, alg: 'none' },
      { ...header, alg: 'HS256' },
      { ...header, alg: 'ES384' },
      { ...header, typ: 'at+jwt' },
      { alg: 'ES256', kid: header.kid, sid: SID },
      { ...header, crit: ['x'], x: 1 },
      { ...header, crit: ['b64'], b64: false },
    ];
    for (const other of headers) {
      const verified = await signer.verifyAccess(forged(keys.access.privateKey, other, payload), NOW);
      expect(verified.ok, JSON.stringify(other)).toBe(false);
    }
  });

  it('refuses a key in the header of the token', async () => {
    const { signer, header, payload } = await setUp();
    const attacker = testKeyPair();
    const jwk = attacker.publicKeys[0]?.export({ format: 'jwk' });
    for (const kid of [header.kid, thumbprint(attacker.publicKeys)]) {
      const token = forged(attacker.privateKey, { ...header, kid, jwk }, payload);
      expect((await signer.verifyAccess(token, NOW)).ok).toBe(false);
    }
  });

  it('refuses claims of another form, though they are signed', async () => {
    const { keys, signer, header, payload } = await setUp();
    const { exp: _, ...endless } = payload;
    const payloads: unknown[] = [
      null,
      [],
      'text',
      {},
      endless,
      { ...payload, exp: String(payload.exp) },
      { ...payload, exp: payload.exp + 0.5 },
      { ...payload, iat: null },
      { ...payload, sub: 7 },
      { ...payload, jti: undefined },
      { ...payload, tokenType: 'ACCESS' },
      { ...payload, user: null },
      { ...payload, user: { ...payload.user, createdAt: NOW } },
      { ...payload, user: { ...payload.user, createdAt: 'yesterday' } },
      { ...payload, user: { ...payload.user, createdAt: '2026' } },
      { ...payload, user: { ...payload.user, createdAt: '2026-01-01T00:00:00+05' } },
      { ...payload, user: { ...payload.user, passwordHash: 'x' } },
      { ...payload, admin: true },
    ];
    for (const other of payloads) {
      const verified = await signer.verifyAccess(forged(keys.access.privateKey, header, other), NOW);
      expect(verified.ok, JSON.stringify(other)).toBe(false);
    }
  });

  it('refuses a refresh token of another type, with a claim too many, or of no session', async () => {
    const { keys, signer } = await setUp();
    const header = { alg: 'ES256', typ: 'JWT', kid: thumbprint(keys.refresh.publicKeys), rot: 7 };
    const verify = (sid: object, payload: object) =>
      signer.verifyRefresh(forged(keys.refresh.privateKey, { ...header, ...sid }, payload), NOW);
    expect((await verify({ sid: SID }, REFRESH)).ok).toBe(true);
    expect((await verify({ sid: SID }, { ...REFRESH, tokenType: 'access' })).ok).toBe(false);
    expect((await verify({ sid: SID }, { ...REFRESH, sid: SID })).ok).toBe(false);
    for (const sid of [{}, { sid: 7 }, { sid: null }]) expect((await verify(sid, REFRESH)).ok).toBe(false);
  });

  it('refuses a refresh token without its number in the session', async () => {
    const { keys, signer } = await setUp();
    const header = { alg: 'ES256', typ: 'JWT', kid: thumbprint(keys.refresh.publicKeys), sid: SID };
    for (const rot of [{}, { rot: null }, { rot: '7' }, { rot: -1 }, { rot: 0.5 }]) {
      const token = forged(keys.refresh.privateKey, { ...header, ...rot }, REFRESH);
      expect((await signer.verifyRefresh(token, NOW)).ok, JSON.stringify(rot)).toBe(false);
    }
  });

  it('rejects an access token without a session', async () => {
    const { keys, signer, header, payload } = await setUp();
    const { sid: _, ...sessionless } = header;
    for (const sid of [{}, { sid: 7 }, { sid: null }, { sid: 'session' }]) {
      const token = forged(keys.access.privateKey, { ...sessionless, ...sid }, payload);
      expect(await signer.verifyAccess(token, NOW)).toEqual({ ok: false, reason: 'unexpected_claims' });
    }
  });

  it('accepts a token whose iat is in the future', async () => {
    const { signer } = await setUp();
    expect((await signer.verifyAccess(await signer.signAccess(signed(ACCESS)), NOW - 3_600_000)).ok).toBe(true);
  });

  it('rejects a valid token of more than 8 KiB', async () => {
    const { signer } = await setUp();
    const withEmail = (length: number) => ({ ...ACCESS, user: { ...USER, email: 'x'.repeat(length) } });
    expect((await signer.verifyAccess(await signer.signAccess(signed(withEmail(5_000))), NOW)).ok).toBe(true);
    expect(await signer.verifyAccess(await signer.signAccess(signed(withEmail(6_100))), NOW)).toEqual({
      ok: false,
      reason: 'too_long',
    });
  });

  it('returns one of the known reasons, without content of the token', async () => {
    const { keys, signer, header, payload } = await setUp();
    const forgedWith = (otherHeader: object, otherPayload: unknown = payload) =>
      forged(keys.access.privateKey, { ...header, ...otherHeader }, otherPayload);
    const token = await signer.signAccess(signed(ACCESS));
    const examples: Readonly<Record<TokenProblem, readonly string[]>> = {
      too_long: ['x'.repeat(8_193)],
      malformed: ['', `${token} `, forgedWith({}, null), forgedWith({}, 'text'), forgedWith({ alg: undefined })],
      unsupported: [forgedWith({ alg: 'ES384' }), forgedWith({ crit: ['x'], x: 1 })],
      unknown_key: [
        await signer.signRefresh({ claims: REFRESH, sessionId: SID, rotation: 7 }),
        forgedWith({ kid: undefined }),
      ],
      invalid_signature: [forged(keys.refresh.privateKey, header, payload)],
      expired: [forgedWith({}, { ...payload, exp: IAT })],
      wrong_issuer_or_audience: [forgedWith({}, { ...payload, iss: 'https://other.example' })],
      unexpected_claims: [forgedWith({ typ: 'at+jwt' }), forgedWith({}, { ...payload, admin: true })],
    };
    for (const [reason, texts] of Object.entries(examples)) {
      for (const text of texts) expect(await signer.verifyAccess(text, NOW), text).toEqual({ ok: false, reason });
    }
  });
});

describe('a token that the service signs, and one that jose signs', () => {
  it.each([
    ['nodeCryptoTokenSigner', 'joseTokenSigner'],
    ['joseTokenSigner', 'nodeCryptoTokenSigner'],
  ] as const)('%s is verified by the other, %s', async (signedBy, verifiedBy) => {
    const parties = { issuer: 'https://auth.example', audience: 'https://api.example' };
    const [keys, makers] = [testKeys(), { joseTokenSigner, nodeCryptoTokenSigner }];
    const [signer, verifier] = await Promise.all([makers[signedBy](keys, parties), makers[verifiedBy](keys, parties)]);
    const refresh = { claims: REFRESH, sessionId: SID, rotation: 7 };
    const access = await signer.signAccess(signed(ACCESS));
    expect(await verifier.verifyAccess(access, NOW)).toEqual({ ok: true, token: signed(ACCESS) });
    expect(await verifier.verifyRefresh(await signer.signRefresh(refresh), NOW)).toEqual({ ok: true, token: refresh });
    const [header, claims] = access.split('.');
    expect((await verifier.signAccess(signed(ACCESS))).split('.').slice(0, 2)).toEqual([header, claims]);
  });
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

  const ISSUED = { claims: REFRESH, sessionId: SID, rotation: 7 };

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

  it('verifies a refresh token of which a part was changed', async () => {
    const { signer, seen } = await counting();
    const token = await signer.signRefresh(ISSUED);
    const changed = token.replace(/.{4}$/, (end) => (end === 'AAAA' ? 'BBBB' : 'AAAA'));
    expect((await signer.verifyRefresh(changed, NOW)).ok).toBe(false);
    expect(seen).toEqual([changed]);
  });

  it('rejects a refresh token that has expired since it was issued', async () => {
    const { signer } = await counting();
    const token = await signer.signRefresh(ISSUED);
    expect(await signer.verifyRefresh(token, REFRESH.exp * 1000)).toEqual({ ok: false, reason: 'expired' });
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

  it('does not remember a token that was rejected', async () => {
    const { signer, seen, sign } = await counting();
    const token = (await sign(jtiOf(1))).replace('.', '.x');
    for (let count = 0; count < 2; count += 1) {
      expect(await signer.verifyAccess(token, NOW)).toMatchObject({ ok: false });
    }
    expect(seen).toEqual([token, token]);
  });

  it('rejects a token that has expired since it was remembered, and accepts it again when the clock steps back', async () => {
    const { signer, sign } = await counting();
    const token = await sign(jtiOf(1));
    const end = ACCESS.exp * 1000;
    expect((await signer.verifyAccess(token, end - 1)).ok).toBe(true);
    expect(await signer.verifyAccess(token, end)).toEqual({ ok: false, reason: 'expired' });
    expect((await signer.verifyAccess(token, end - 1)).ok).toBe(true);
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
