import { describe, expect, it } from 'vitest';
import { MINUTE } from '../support/application.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { heldFrom, refreshWith, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const service = await start({ JWT_AUTHENTICATION_CLAIMS: 'true' }, () => ({ clock }));

const stepUp = (accessToken: string, body: object, { http } = service) =>
  http.post('/auth/step-up').set('Authorization', `Bearer ${accessToken}`).send(body);
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

describe('POST /auth/step-up', () => {
  it('answers with an access token that says when the user has authenticated', async () => {
    const { person, accessToken, cookie } = await signUp(service);
    const before = claimsOf(accessToken);
    expect(before).toMatchObject({ auth_time: before.iat, amr: ['pwd'], acr: 'aal1' });
    clock.advance(MINUTE);
    const response = await stepUp(accessToken, { password: person.password }).expect(200);
    // The request had no cookie, so its client might not keep one.
    expect(response.get('Set-Cookie')).toBeUndefined();
    const raised = response.body.data.accessToken;
    expect(claimsOf(raised)).toMatchObject({ sub: before.sub, auth_time: before.iat + 60, amr: ['pwd'], acr: 'aal1' });
    await service.http.get('/users/me').set('Authorization', `Bearer ${raised}`).expect(200);
    clock.advance(MINUTE);
    const refreshed = heldFrom(await refreshWith(service, cookie).expect(200));
    expect(claimsOf(refreshed.accessToken)).toMatchObject({ iat: before.iat + 120, auth_time: before.iat + 60 });
  });

  it('brings the next refresh token to a browser that sends its cookie', async () => {
    const { person, accessToken, cookie } = await signUp(service);
    const held = heldFrom(await stepUp(accessToken, { password: person.password }).set('Cookie', cookie).expect(200));
    clock.advance(MINUTE);
    await refreshWith(service, held.cookie).expect(200);
    await refreshWith(service, cookie).expect(401);
  });
});
