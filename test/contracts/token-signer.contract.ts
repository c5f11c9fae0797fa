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
    user: { id: SUB, username: 'Ada', email: 'ada@example.org', createdAt: NOW - 86_400_001, updatedAt: NOW - 1 },
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
  /** An access token and a refresh token. */
  const bothOf = async (signer: TokenSigner) => [
    {
      ...{ kind: 'access', content: ACCESS, token: await signer.signAccess(ACCESS) },
      verify: (text: string, now = NOW) => signer.verifyAccess(text, now),
      asOther: (text: string) => signer.verifyRefresh(text, NOW),
    },
    {
      ...{ kind: 'refresh', content: REFRESH, token: await signer.signRefresh(REFRESH) },
      verify: (text: string, now = NOW) => signer.verifyRefresh(text, now),
      asOther: (text: string) => signer.verifyAccess(text, NOW),
    },
  ];
  suite.describe(`${name} as a TokenSigner`, () => {
    it('returns the claims, the session and the number that it signed', async () => {
      for (const { content, token, verify } of await bothOf(await make('ours')))
        expect(await verify(token)).toEqual({ ok: true, token: content });
    });

    it('rejects a token from the second of its expiry on', async () => {
      for (const { content, token, verify, kind } of await bothOf(await make('ours'))) {
        const end = content.claims.exp * 1000;
        expect((await verify(token, end - 1)).ok, kind).toBe(true);
        expect((await verify(token, end)).ok, kind).toBe(false);
      }
    });

    it('rejects a token that was changed in any part', async () => {
      for (const { token, verify } of await bothOf(await make('ours'))) {
        // A signer that remembers what it has verified must not accept what resembles it.
        expect((await verify(token)).ok).toBe(true);
        for (const altered of alterations(token)) expect((await verify(altered)).ok, altered).toBe(false);
      }
    });

    it('rejects an access token as a refresh token, and vice versa', async () => {
      const both = await bothOf(await make('ours'));
      for (const round of ['unknown', 'verified before']) {
        for (const { token, asOther, kind } of both) expect((await asOther(token)).ok, `${kind} ${round}`).toBe(false);
        for (const { token, verify, kind } of both) expect((await verify(token)).ok, `${kind} ${round}`).toBe(true);
      }
    });

    it('rejects a token signed with another key', async () => {
      const [ours, theirs] = await Promise.all([make('ours'), make('theirs')]);
      const [own, others] = [await bothOf(ours), await bothOf(theirs)];
      for (const [at, { token, verify, kind }] of others.entries()) {
        expect((await verify(token)).ok, kind).toBe(true);
        expect((await own[at]?.verify(token))?.ok, kind).toBe(false);
      }
    });

    it('rejects a token that says it is not signed', async () => {
      for (const { token, verify } of await bothOf(await make('ours')))
        for (const unsigned of withoutSignature(token)) expect((await verify(unsigned)).ok, unsigned).toBe(false);
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
