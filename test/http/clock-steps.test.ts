import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixedClock } from '../support/fixed-clock.ts';
import { heldFrom, refreshWith, servicesOverOneDatabase, ULID } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2030, 0, 1);

describe('a step of the system clock', () => {
  const services = servicesOverOneDatabase();
  const clock = fixedClock(NOW);
  const clockAhead = fixedClock(NOW + HOUR);
  let service: TestService;
  let ahead: TestService;
  beforeAll(async () => {
    service = await services.start({}, () => ({ clock }));
    ahead = await services.start({}, () => ({ clock: clockAhead }));
  });
  afterAll(() => clock.set(NOW));

  const register = async (at: TestService) =>
    heldFrom(await at.http.post('/auth/register').send(aPerson()).expect(201));
  const me = ({ http }: TestService, accessToken: string) =>
    http.get('/users/me').set('Authorization', `Bearer ${accessToken}`);

  it('back by a second leaves sessions, tokens and ids valid', async () => {
    const { accessToken, cookie } = await register(service);
    clock.advance(-1_000);
    await me(service, accessToken).expect(200);
    const refreshed = await refreshWith(service, cookie).expect(200);
    expect(refreshed.body.context.requestId).toMatch(ULID);
    await refreshWith(service, heldFrom(refreshed).cookie).expect(200);
    clock.advance(1_000);
  });

  it('back by a second keeps ids ascending', async () => {
    const before = (await service.http.get('/health/live')).body.context.requestId;
    clock.advance(-1_000);
    const after = (await service.http.get('/health/live')).body.context.requestId;
    clock.advance(1_000);
    expect(after > before).toBe(true);
  });

  it('by an hour on one instance leaves sessions usable on both: each refreshes what the other issued', async () => {
    const { cookie } = await register(service);
    const onAhead = heldFrom(await refreshWith(ahead, cookie).expect(200));
    const onService = heldFrom(await refreshWith(service, onAhead.cookie).expect(200));
    await refreshWith(ahead, onService.cookie).expect(200);
  });

  it('by an hour on one instance does not turn a theft into a race, nor a race into a theft', async () => {
    const { cookie } = await register(service);
    const onAhead = heldFrom(await refreshWith(ahead, cookie).expect(200));
    // The rotation lies in the future, which is not longer ago than the race window.
    await refreshWith(service, cookie).expect(401);
    const next = heldFrom(await refreshWith(service, onAhead.cookie).expect(200));
    await refreshWith(ahead, cookie).expect(401);
    const last = heldFrom(await refreshWith(service, next.cookie).expect(200));
    clockAhead.advance(10_001);
    await refreshWith(ahead, cookie).expect(401);
    await refreshWith(service, last.cookie).expect(401);
  });

  it('by an hour on one instance makes it refuse access tokens of the other: exp is checked without tolerance', async () => {
    const { accessToken } = await register(service);
    await me(ahead, accessToken).expect(401);
    await me(service, (await register(ahead)).accessToken).expect(200);
  });
});
