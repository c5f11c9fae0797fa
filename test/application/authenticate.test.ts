import { describe, expect, it } from 'vitest';
import { ADA, application, MINUTE } from '../support/application.ts';

describe('authenticate', () => {
  it('gives the claims of a valid access token', async () => {
    const app = application();
    const { accessToken, user } = await app.register(ADA);
    expect(await app.authenticate(accessToken)).toMatchObject({
      ok: true,
      token: { sub: user.id, tokenType: 'access', user },
    });
  });

  it('refuses an access token after 15 minutes', async () => {
    const app = application();
    const { accessToken } = await app.register(ADA);
    app.clock.advance(15 * MINUTE - 1);
    expect((await app.authenticate(accessToken)).ok).toBe(true);
    app.clock.advance(1);
    expect((await app.authenticate(accessToken)).ok).toBe(false);
  });

  it('refuses a refresh token and nonsense, without throwing', async () => {
    const app = application();
    const { refreshToken } = await app.register(ADA);
    for (const text of [refreshToken, 'nonsense', '']) expect((await app.authenticate(text)).ok).toBe(false);
  });
});
