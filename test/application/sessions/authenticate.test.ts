import { describe, expect, it } from 'vitest';
import { ADA, application, MINUTE } from '../../support/application.ts';

describe('authenticate', () => {
  it('returns the claims and the session of a valid access token', async () => {
    const app = application();
    const { accessToken, refreshToken, user } = await app.register(ADA);
    const refresh = await app.tokens.verifyRefresh(refreshToken, app.clock.now());
    if (!refresh.ok) expect.unreachable(refresh.reason);
    expect(await app.authenticate(accessToken)).toMatchObject({
      ok: true,
      token: { claims: { sub: user.id, tokenType: 'access', user }, sessionId: refresh.token.sessionId },
    });
  });

  it('rejects an access token after 15 minutes', async () => {
    const app = application();
    const { accessToken } = await app.register(ADA);
    app.clock.advance(15 * MINUTE - 1);
    expect((await app.authenticate(accessToken)).ok).toBe(true);
    app.clock.advance(1);
    expect((await app.authenticate(accessToken)).ok).toBe(false);
  });

  it('rejects a refresh token and arbitrary text, without throwing', async () => {
    const app = application();
    const { refreshToken } = await app.register(ADA);
    for (const text of [refreshToken, 'nonsense', '']) expect((await app.authenticate(text)).ok).toBe(false);
  });
});
