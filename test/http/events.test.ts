// Proves ASVS 16.2.5; theft-5

import { expect, it } from 'vitest';
import { anEvent } from '../support/builders.ts';
import { signUp } from '../support/http/auth-http.ts';
import { hasher, startService } from '../support/http/service.ts';
import { storeEvents } from '../support/stored-events.ts';

const service = await startService({}, { hasher });

it('GET /users/me/events lists 50 events unless another number is asked for', async () => {
  const { user, accessToken } = await signUp(service);
  await storeEvents(
    service.ports,
    Array.from({ length: 50 }, () => anEvent({ id: service.ports.ids.next(), userId: user.id })),
  );
  const { body } = await service.http.get('/users/me/events').auth(accessToken, { type: 'bearer' }).expect(200);
  expect(body.data.events).toHaveLength(50);
  expect(body.data.next).toBe(body.data.events.at(-1).id);
});

it('the audit log names no account', async () => {
  const ada = await signUp(service);
  const lines = service.logs.filter(({ msg }) => msg === 'account event');
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${ada.person.username}|${ada.person.email}`, 'i'));
});
