import { beforeAll, describe, expect, it } from 'vitest';
import { fixedClock } from '../../src/adapters/clock/fixed.ts';
import { MINUTE, SECOND } from '../support/application.ts';
import { eventsOf, servicesWithRecords } from '../support/http/account.ts';
import { heldFrom, refreshWith, signUp } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';

const start = servicesWithRecords();
const clock = fixedClock(Date.UTC(2030, 0, 1));
let service: TestService;
beforeAll(async () => {
  service = await start({}, { clock });
});

const endingsOf = async (userId: string) =>
  (await eventsOf(service, userId)).filter(({ kind }) => kind === 'session-ended').map(({ reason }) => reason);

describe('a stolen refresh token', () => {
  // Proves: theft-1
  it('is noticed however often the thief refreshes: the owner’s next refresh ends the session', async () => {
    const owner = await signUp(service);
    clock.advance(15 * MINUTE);
    let stolen = owner.cookie;
    for (let elapsed = 0; elapsed <= 40 * SECOND; elapsed += 500) {
      stolen = heldFrom(await refreshWith(service, stolen).expect(200)).cookie;
      clock.advance(500);
    }
    await refreshWith(service, owner.cookie).expect(401);
    expect(await endingsOf(owner.user.id)).toEqual(['token-replayed']);
    await refreshWith(service, stolen).expect(401);
  });

  // Proves: theft-1
  it('is noticed beside a valid one of another account', async () => {
    const [owner, thief] = [await signUp(service), await signUp(service)];
    const current = heldFrom(await refreshWith(service, owner.cookie).expect(200)).cookie;
    clock.advance(MINUTE);
    const answer = heldFrom(await refreshWith(service, `${owner.cookie}; ${thief.cookie}`).expect(200));
    expect(await endingsOf(owner.user.id)).toEqual(['token-replayed']);
    expect(await endingsOf(thief.user.id)).toEqual([]);
    await refreshWith(service, current).expect(401);
    await refreshWith(service, answer.cookie).expect(200);
  });
});
