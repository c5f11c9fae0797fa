import { expect } from 'vitest';
import type { RememberedDeviceRepository } from '../../src/application/ports/remembered-device-repository.ts';
import type { RememberedDevice } from '../../src/domain/remembered-device.ts';
import { aRememberedDevice, NOW } from '../support/builders.ts';
import { expectTranslated, rejection } from './hooks.ts';
import { givenRecords, type RecordsStore } from './records/store.ts';
import { prepared, vitestSuite } from './suite.ts';

const added = async (
  repository: RememberedDeviceRepository,
  given: Partial<RememberedDevice>,
): Promise<RememberedDevice> => {
  const device = aRememberedDevice(given);
  await repository.add(device);
  return device;
};

/** Registers the tests of every promise of the port for one adapter. */
export const describeRememberedDeviceRepository = (
  name: string,
  make: () => Promise<RecordsStore<RememberedDeviceRepository>>,
  suite = vitestSuite,
): void => {
  const { it } = prepared(suite, async (run) => {
    const given = await givenRecords(make, run);
    return { given, close: async () => given.store.close?.() };
  });
  suite.describe(`${name} as a RememberedDeviceRepository`, () => {
    it('lists the live devices of one user, the oldest first', async (given) => {
      const { repository, owner, otherUser, stranger, anotherIfAny } = given;
      const later = await added(repository, { userId: owner, createdAt: NOW + 1, userAgent: 'curl/8' });
      const first = await added(repository, { userId: owner, address: '192.0.2.0/24' });
      await added(repository, { userId: owner, expiresAt: NOW - 1 });
      const other = await added(repository, { userId: otherUser });
      const another = await anotherIfAny();
      expect(await another.listByUser(owner, NOW)).toEqual([first, later]);
      expect(await repository.listByUser(otherUser, NOW)).toEqual([other]);
      expect([await repository.listByUser(stranger, NOW), await repository.listByUser('\0', NOW)]).toEqual([[], []]);
    });

    it('treats a device as expired at its expiry, and as live a millisecond before', async ({ repository, owner }) => {
      const device = await added(repository, { userId: owner });
      expect(await repository.listByUser(owner, device.expiresAt - 1)).toEqual([device]);
      expect(await repository.listByUser(owner, device.expiresAt)).toEqual([]);
    });

    it('removes a device of its user alone, and says so once', async ({ repository, owner, otherUser }) => {
      const [device, kept] = [await added(repository, { userId: owner }), await added(repository, { userId: owner })];
      expect(await repository.remove({ id: device.id, userId: otherUser })).toBe(false);
      expect(await repository.remove({ id: '\0', userId: owner })).toBe(false);
      expect([await repository.remove(device), await repository.remove(device)]).toEqual([true, false]);
      expect(await repository.listByUser(owner, NOW)).toEqual([kept]);
    });

    it('removes all devices of one user, and returns their ids', async ({ repository, owner, otherUser }) => {
      const devices = [await added(repository, { userId: owner }), await added(repository, { userId: owner })];
      const kept = await added(repository, { userId: otherUser });
      const removed = await repository.removeOfUser(owner);
      expect(removed.toSorted()).toEqual(devices.map(({ id }) => id).toSorted());
      expect([await repository.removeOfUser(owner), await repository.listByUser(owner, NOW)]).toEqual([[], []]);
      expect(await repository.listByUser(otherUser, NOW)).toEqual([kept]);
    });

    it('purges expired devices, and only those', async ({ repository, owner }) => {
      for (const at of [0, 1, 2, 3, 4]) await added(repository, { userId: owner, expiresAt: NOW - at });
      const live = await added(repository, { userId: owner, expiresAt: NOW + 1 });
      const purged = [];
      for (let round = 0; round < 4; round += 1) purged.push(await repository.purge(NOW, 2));
      expect(purged).toEqual([2, 2, 1, 0]);
      expect(await repository.listByUser(owner, NOW)).toEqual([live]);
      expect(await repository.removeOfUser(owner)).toEqual([live.id]);
    });

    it('loses the devices of a user who is deleted', async ({ repository, owner, otherUser, store }) => {
      await added(repository, { userId: owner });
      const kept = await added(repository, { userId: otherUser });
      await store.deleteUser(owner);
      expect(await repository.listByUser(owner, NOW)).toEqual([]);
      expect(await repository.listByUser(otherUser, NOW)).toEqual([kept]);
    });

    it('rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored', async (given) => {
      const { repository, owner, hook } = given;
      const device = await added(repository, { userId: owner, userAgent: 'a stored browser' });
      const failing = await hook('failing')();
      const calls = [
        () => failing.add(device),
        () => failing.listByUser(owner, NOW),
        () => failing.remove(device),
        () => failing.removeOfUser(owner),
        () => failing.purge(NOW, 1),
      ];
      for (const call of calls) expectTranslated(await rejection(call()), ['a stored browser', device.id]);
      expect(await repository.listByUser(owner, NOW)).toEqual([device]);
    });
  });
};
