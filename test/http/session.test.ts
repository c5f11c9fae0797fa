// Proves SPEC 17.3, 17.4, 17.12
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/infrastructure/version.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const service = await start({}, () => ({ clock }));
const ada = await signUp(service);

const session = (authorization?: string) => {
  const request = service.http.get('/auth/session');
  return authorization === undefined ? request : request.set('Authorization', authorization);
};

describe('GET /auth/session', () => {
  it.each(['Bearer', 'bearer', 'BEARER'])('returns the user of the token: %s', async (scheme) => {
    const response = await session(`${scheme} ${ada.accessToken}`).expect(200);
    expect(response.body).toStrictEqual({
      success: true,
      data: { authenticated: true, user: ada.user },
      timestamp: new Date(clock.now()).toISOString(),
      context: {
        requestId: response.get('svc-request-id'),
        version: VERSION,
        user: { id: ada.user.id, username: ada.user.username },
      },
    });
    expect(response.get('Cache-Control')).toBe('no-store');
  });

  it('uses the claims, without the database', async () => {
    const down = () => Promise.reject(new Error('down'));
    const users = {
      add: down,
      findById: down,
      findByUsername: down,
      findByEmail: down,
      setPasswordHash: down,
      update: down,
      lock: down,
      remove: down,
    };
    const without = await start({}, () => ({ users, clock }));
    const { accessToken, user } = await signUp(service);
    const response = await without.http.get('/auth/session').set('Authorization', `Bearer ${accessToken}`);
    expect(response.body.data).toStrictEqual({ authenticated: true, user });
  });
});
