// Proves flood-12
import { beforeAll, describe, expect, it } from 'vitest';
import { closedServices, sentLink } from '../support/http/account.ts';
import { signUp } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';

const start = closedServices();
let service: TestService;
beforeAll(async () => {
  service = await start();
});

const exported = async ({ accessToken }: { readonly accessToken: string }, { http } = service) =>
  (await http.get('/users/me/export').set('Authorization', `Bearer ${accessToken}`).expect(200)).body.data;

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('GET /users/me/export', () => {
  it('returns what is stored about the user', async () => {
    const ada = await signUp(service);
    const { id: userId, email } = ada.user;
    await sentLink(service, { userId, purpose: 'email-verification', email });
    const [session] = await service.ports.sessions.listByUser(userId, Date.now());
    const now = Date.parse(ada.user.updatedAt);
    await service.ports.users.update(userId, { attributes: { roles: ['admin'] }, now });
    expect(await exported(ada)).toEqual({
      exportedAt: timestamp,
      user: {
        ...ada.user,
        passwordChangedAt: null,
        emailVerifiedAt: null,
        disabledAt: null,
        secondFactorAt: null,
        attributes: { roles: ['admin'] },
        locale: null,
      },
      sessions: [
        {
          id: session?.id,
          createdAt: timestamp,
          lastUsedAt: timestamp,
          expiresAt: timestamp,
          authenticatedAt: timestamp,
          userAgent: session?.userAgent,
          address: session?.address,
          binding: 'none',
          amr: ['pwd'],
          knownAt: timestamp,
          heldAt: null,
        },
      ],
      rememberedDevices: [],
      events: ['exported', 'registered'].map((kind) =>
        expect.objectContaining({ kind, sessionId: session?.id, at: timestamp }),
      ),
      links: [{ purpose: 'email-verification', email, createdAt: timestamp, expiresAt: timestamp }],
      passkeys: [],
      identities: [],
      factors: [],
      recoveryCodes: { left: 0 },
      messages: ['email-verification', 'exported'].map((kind) =>
        expect.objectContaining({ kind, to: email, createdAt: timestamp }),
      ),
    });
  });

  it('is limited for each user, whatever the address, and in another count than that of the clients', async () => {
    const limited = await start({ TRUST_PROXY: '1' });
    const [ada, bob] = [await signUp(limited), await signUp(limited)];
    const ask = ({ accessToken }: { readonly accessToken: string }, host: number) =>
      limited.http
        .get('/users/me/export')
        .set({ Authorization: `Bearer ${accessToken}`, 'X-Forwarded-For': `192.0.2.${host}` });
    for (let host = 0; host < 5; host += 1) await ask(ada, host).expect(200);
    const refused = await ask(ada, 5).expect(429);
    expect(refused.body.code).toBe('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    for (let count = 0; count < 5; count += 1) await ask(bob, 5).expect(200);
  });
});
