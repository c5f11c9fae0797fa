// Proves ASVS 7.3.2; nist-6, bcp-7
import { beforeAll, describe, expect, it } from 'vitest';
import { DAY, MINUTE } from '../support/application.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { heldFrom, refreshWith, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';
import { type DeviceKey, joseDeviceKey } from '../support/jose-proofs.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
let service: TestService;
beforeAll(async () => {
  service = await start({ JWT_AUTHENTICATION_CLAIMS: 'true' }, () => ({ clock }));
});

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
    expect(response.get('Set-Cookie')).toBeUndefined();
    const raised = response.body.data.accessToken;
    expect(claimsOf(raised)).toMatchObject({ sub: before.sub, auth_time: before.iat + 60, amr: ['pwd'], acr: 'aal1' });
    await service.http.get('/users/me').set('Authorization', `Bearer ${raised}`).expect(200);
    clock.advance(MINUTE);
    const refreshed = heldFrom(await refreshWith(service, cookie).expect(200));
    expect(claimsOf(refreshed.accessToken)).toMatchObject({ iat: before.iat + 120, auth_time: before.iat + 60 });
  });

  it('refuses a wrong password', async () => {
    const { accessToken } = await signUp(service);
    const { body } = await stepUp(accessToken, { password: 'wrong' }).expect(401);
    expect(body).toMatchObject({ success: false, code: 'AUTH_CREDENTIALS_INVALID' });
  });

  it('gives the session another key with a proof, and refuses one that is signed for another address', async () => {
    const { person, accessToken, cookie } = await signUp(service);
    const [former, latter] = [await joseDeviceKey(), await joseDeviceKey()];
    const proofBy = ({ proof }: DeviceKey, path: string) =>
      proof({ htu: `https://auth.example.org${path}`, now: clock.now() });
    const stepUpBy = async (key: DeviceKey, path = '/auth/step-up') =>
      stepUp(accessToken, { password: person.password, proof: await proofBy(key, path) });
    const refreshBy = async (key: DeviceKey) =>
      refreshWith(service, cookie).send({ proof: await proofBy(key, '/auth/refresh-token') });
    for (const key of [former, latter]) expect((await stepUpBy(key)).status).toBe(200);
    const refusals = [await stepUpBy(former, '/auth/refresh-token'), await refreshBy(former)];
    for (const { status, body } of refusals) expect([status, body.code]).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
    expect((await refreshBy(latter)).status).toBe(200);
  });

  it('is what a session takes after five minutes, for instance to export the account', async () => {
    const { person, accessToken } = await signUp(service);
    const ask = () => service.http.get('/users/me/export').set('Authorization', `Bearer ${accessToken}`);
    clock.advance(5 * MINUTE);
    expect((await ask().expect(401)).body.code).toBe('AUTH_STEP_UP_REQUIRED');
    await stepUp(accessToken, { password: person.password }).expect(200);
    await ask().expect(200);
  });
});

describe('SESSION_MAX_LIFETIME', () => {
  it('ends a session however often it is renewed, and a step-up lets it go on', async () => {
    const limited = await start({ SESSION_MAX_LIFETIME: '10d' }, () => ({ clock }));
    const [ada, bob] = [await signUp(limited), await signUp(limited)];
    clock.advance(6 * DAY);
    const [adaToo, bobToo] = [
      heldFrom(await refreshWith(limited, ada.cookie).expect(200)),
      heldFrom(await refreshWith(limited, bob.cookie).expect(200)),
    ];
    await stepUp(bobToo.accessToken, { password: bob.person.password }, limited).expect(200);
    clock.advance(4 * DAY - 1_000);
    const bobOnce = heldFrom(await refreshWith(limited, bobToo.cookie).expect(200));
    clock.advance(1_000);
    expect((await refreshWith(limited, adaToo.cookie).expect(401)).body.code).toBe('AUTH_FAILED');
    await refreshWith(limited, bobOnce.cookie).expect(200);
  });
});
