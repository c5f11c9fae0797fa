// Proves ASVS 7.2.4; theft-1, theft-2
import { beforeAll, describe, expect, it } from 'vitest';
import { MINUTE, SECOND } from '../support/application.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { closedServices, eventsOf } from '../support/http/account.ts';
import { heldFrom, refreshWith, signUp } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';

const start = closedServices();
const clock = fixedClock(Date.UTC(2030, 0, 1));
let service: TestService;
beforeAll(async () => {
  service = await start({}, { clock });
});

const endingsOf = async (userId: string) =>
  (await eventsOf(service, userId)).filter(({ kind }) => kind === 'session-ended').map(({ reason }) => reason);

type Held = ReturnType<typeof heldFrom>;

const refreshed = async (service: TestService, { cookie }: Held) =>
  heldFrom(await refreshWith(service, cookie).expect(200));
const isRefused = async (service: TestService, { cookie }: Held) =>
  (await refreshWith(service, cookie)).body.code === 'AUTH_FAILED';
const endOthers = ({ http }: TestService, { accessToken }: Held, cookie = '') =>
  http
    .delete('/auth/sessions?except=current')
    .set({ Authorization: `Bearer ${accessToken}`, ...(cookie !== '' && { Cookie: cookie }) });

describe('a stolen refresh token', () => {
  it.each([
    ['twice a second', 500],
    ['once each window', 10 * SECOND],
    ['a little more slowly, so that each rotation begins a run', 11 * SECOND],
  ])('is noticed when the thief refreshes %s: the owner’s next refresh ends the session', async (_, pace) => {
    const owner = await signUp(service);
    clock.advance(15 * MINUTE);
    let stolen = owner.cookie;
    for (let elapsed = 0; elapsed <= 40 * SECOND; elapsed += pace) {
      stolen = heldFrom(await refreshWith(service, stolen).expect(200)).cookie;
      clock.advance(pace);
    }
    await refreshWith(service, owner.cookie).expect(401);
    expect(await endingsOf(owner.user.id)).toEqual(['token-replayed']);
    await refreshWith(service, stolen).expect(401);
  });
});

describe('a thief who refreshes first', () => {
  /** The owner tries to refresh `age` after the thief, and logs in again. The browser sends its cookie. */
  const logInAfter = async (age: number) => {
    const owner = await signUp(service);
    const thief = await refreshed(service, owner);
    clock.advance(age);
    const { username: account, password } = owner.person;
    const again = await service.http.post('/auth/login').set('Cookie', owner.cookie).send({ account, password });
    return { owner, thief, again: heldFrom(again) };
  };

  it.each([
    ['replaced', 5 * SECOND],
    ['token-replayed', MINUTE],
  ])('loses the session when its owner logs in again: %s', async (reason, age) => {
    const { owner, thief, again } = await logInAfter(age);
    expect(await isRefused(service, thief)).toBe(true);
    expect(await isRefused(service, again)).toBe(false);
    expect(await endingsOf(owner.user.id)).toEqual([reason]);
  });
});

describe('an access token that somebody else has, as every service that accepts it', () => {
  it('opens no session', async () => {
    const owner = await signUp(service);
    const thief = await signUp(service);
    for (const cookie of ['', thief.cookie]) {
      const response = await endOthers(service, owner, cookie).expect(401);
      expect(response.body.code).toBe('AUTH_FAILED');
      expect(response.headers).not.toHaveProperty('set-cookie');
    }
    expect(await isRefused(service, owner)).toBe(false);
  });
});
