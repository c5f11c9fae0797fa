import { expect } from 'vitest';
import type { AccessToken, RefreshToken, TokenSigner } from '../../src/application/ports/token-signer.ts';
import { vitestSuite } from './suite.ts';

const NOW = Date.UTC(2026, 0, 1);
const IAT = NOW / 1000;

const SUB = '01J00000000000000000000001';
const SID = '01J00000000000000000000004';
const ACCESS: AccessToken = {
  claims: {
    sub: SUB,
    iat: IAT,
    exp: IAT + 900,
    jti: '01J00000000000000000000002',
    tokenType: 'access',
    user: {
      id: SUB,
      username: 'Ada',
      email: 'ada@example.org',
      createdAt: NOW - 86_400_001,
      updatedAt: NOW - 1,
    },
  },
  sessionId: SID,
};
const REFRESH: RefreshToken = {
  claims: { sub: SUB, iat: IAT, exp: IAT + 604_800, jti: '01J00000000000000000000003', tokenType: 'refresh' },
  sessionId: SID,
  rotation: 7,
};

const NO_TOKENS = ['', '.', '..', 'a.b.c', '....', 'null', '{}', '\0', '💥.💥.💥', ' ', 'a'.repeat(100_000)];

const swapped = (text: string, index: number) =>
  text.slice(0, index) + (text[index] === 'B' ? 'C' : 'B') + text.slice(index + 1);

/** All texts that differ from this one in one character, and some that are longer or shorter. */
const alterations = (text: string) => [
  ...Array.from(text, (_, index) => swapped(text, index)),
  ...Array.from('AQgwBRhxCSiy_-09', (last) => text.slice(0, -1) + last).filter((altered) => altered !== text),
  text.slice(0, -1),
  `${text}A`,
  `${text}=`,
  `${text} `,
  `${text}\n`,
  ` ${text}`,
  text.toLowerCase(),
];

/** The claims of a token under a header that names no algorithm: RFC 8725 §2.1. */
const withoutSignature = (token: string) => {
  const [, payload = '', signature = ''] = token.split('.');
  return ['none', 'None', 'NONE'].flatMap((alg) => {
    const header = Buffer.from(JSON.stringify({ alg, typ: 'JWT' })).toString('base64url');
    return [`${header}.${payload}.`, `${header}.${payload}`, `${header}.${payload}.${signature}`];
  });
};

/** @param make makes a signer; each value of `key` stands for other keys. */
export const describeTokenSigner = (
  name: string,
  make: (key: 'ours' | 'theirs') => Promise<TokenSigner>,
  suite = vitestSuite,
) => {
  const { it } = suite;
  suite.describe(`${name} as a TokenSigner`, () => {
    it('returns the claims, the session and the number that it signed', async () => {
      const signer = await make('ours');
      expect(await signer.verifyAccess(await signer.signAccess(ACCESS), NOW)).toEqual({ ok: true, token: ACCESS });
      expect(await signer.verifyRefresh(await signer.signRefresh(REFRESH), NOW)).toEqual({ ok: true, token: REFRESH });
    });

    it('rejects a token from the second of its expiry on', async () => {
      const signer = await make('ours');
      const access = await signer.signAccess(ACCESS);
      const refresh = await signer.signRefresh(REFRESH);
      const end = { access: ACCESS.claims.exp * 1000, refresh: REFRESH.claims.exp * 1000 };
      expect((await signer.verifyAccess(access, end.access - 1)).ok).toBe(true);
      expect((await signer.verifyAccess(access, end.access)).ok).toBe(false);
      expect((await signer.verifyRefresh(refresh, end.refresh - 1)).ok).toBe(true);
      expect((await signer.verifyRefresh(refresh, end.refresh)).ok).toBe(false);
    });

    it('rejects a token that was changed in any part', async () => {
      const signer = await make('ours');
      const [access, refresh] = [await signer.signAccess(ACCESS), await signer.signRefresh(REFRESH)];
      // A signer that remembers what it has verified must not accept what resembles it.
      expect((await signer.verifyAccess(access, NOW)).ok).toBe(true);
      expect((await signer.verifyRefresh(refresh, NOW)).ok).toBe(true);
      for (const altered of alterations(access)) {
        expect((await signer.verifyAccess(altered, NOW)).ok, altered).toBe(false);
      }
      for (const altered of alterations(refresh)) {
        expect((await signer.verifyRefresh(altered, NOW)).ok, altered).toBe(false);
      }
    });

    it('rejects an access token as a refresh token, and vice versa', async () => {
      const signer = await make('ours');
      const [access, refresh] = [await signer.signAccess(ACCESS), await signer.signRefresh(REFRESH)];
      for (const _round of ['unknown', 'verified before']) {
        expect((await signer.verifyRefresh(access, NOW)).ok).toBe(false);
        expect((await signer.verifyAccess(refresh, NOW)).ok).toBe(false);
        expect((await signer.verifyAccess(access, NOW)).ok).toBe(true);
        expect((await signer.verifyRefresh(refresh, NOW)).ok).toBe(true);
      }
    });

    it('rejects a token signed with another key', async () => {
      const [ours, theirs] = await Promise.all([make('ours'), make('theirs')]);
      await Promise.all([ours.signAccess(ACCESS), ours.signRefresh(REFRESH)]);
      const [access, refresh] = [await theirs.signAccess(ACCESS), await theirs.signRefresh(REFRESH)];
      expect((await theirs.verifyAccess(access, NOW)).ok).toBe(true);
      expect((await theirs.verifyRefresh(refresh, NOW)).ok).toBe(true);
      expect((await ours.verifyAccess(access, NOW)).ok).toBe(false);
      expect((await ours.verifyRefresh(refresh, NOW)).ok).toBe(false);
    });

    it('rejects a token that says it is not signed', async () => {
      const signer = await make('ours');
      const unsigned = {
        access: withoutSignature(await signer.signAccess(ACCESS)),
        refresh: withoutSignature(await signer.signRefresh(REFRESH)),
      };
      for (const token of unsigned.access) expect((await signer.verifyAccess(token, NOW)).ok, token).toBe(false);
      for (const token of unsigned.refresh) expect((await signer.verifyRefresh(token, NOW)).ok, token).toBe(false);
    });

    it('rejects a text that is not a token', async () => {
      const signer = await make('ours');
      for (const text of NO_TOKENS) {
        await expect(signer.verifyAccess(text, NOW)).resolves.toMatchObject({ ok: false });
        await expect(signer.verifyRefresh(text, NOW)).resolves.toMatchObject({ ok: false });
      }
    });
  });
};
