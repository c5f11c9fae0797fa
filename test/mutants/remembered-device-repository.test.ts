import type { RememberedDeviceRepository } from '../../src/application/ports/remembered-device-repository.ts';
import type { RememberedDevice } from '../../src/domain/remembered-device.ts';
import { describeRememberedDeviceRepository } from '../contracts/remembered-device-repository.contract.ts';
import { describeMutants, mutantsOf } from './harness/describe-mutants.ts';
import { quoting } from './harness/translated.ts';
import { memoryRememberedDeviceRepository } from './memory/remembered-device-repository.ts';
import type { Tables } from './memory/tables.ts';
import { type Faults, recordsInMemory } from './records/in-memory.ts';

const inMemory = recordsInMemory<RememberedDeviceRepository>((tables) => {
  const devices = memoryRememberedDeviceRepository(tables);
  return { ...devices, forget: devices.removeOfUser };
});

const all = (tables: Tables): RememberedDevice[] => [...tables.open<RememberedDevice>('remembered devices').values()];

const LISTS = 'lists the live devices of one user, the oldest first';
const EXPIRES = 'treats a device as expired at its expiry, and as live a millisecond before';
const REMOVES = 'removes a device of its user alone, and says so once';
const REMOVES_ALL = 'removes all devices of one user, and returns their ids';
const PURGES = 'purges expired devices, and only those';
const FAILS = 'rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored';

const FAULTS: Faults<RememberedDeviceRepository> = {
  'lists the latest first': {
    wrong: ({ listByUser }) => ({ listByUser: async (...given) => (await listByUser(...given)).toReversed() }),
    caughtBy: LISTS,
  },
  'lists the devices of all users': {
    wrong: (_correct, { tables }) => ({
      listByUser: async (_userId, now) => all(tables).filter((each) => now < each.expiresAt),
    }),
    caughtBy: LISTS,
  },
  'lists expired devices': {
    wrong: ({ listByUser }) => ({ listByUser: (userId) => listByUser(userId, 0) }),
    caughtBy: LISTS,
  },
  'loses where a device is from': {
    wrong: ({ add }) => ({ add: (device) => add({ ...device, address: null }) }),
    caughtBy: LISTS,
  },
  'keeps a device in the millisecond of its expiry': {
    wrong: ({ listByUser }) => ({ listByUser: (userId, now) => listByUser(userId, now - 1) }),
    caughtBy: EXPIRES,
  },
  'removes the device of another user': {
    wrong: ({ remove }, { tables }) => ({
      remove: (key) => remove(all(tables).find(({ id }) => id === key.id) ?? key),
    }),
    caughtBy: REMOVES,
  },
  'says of every removal that there was a device': {
    wrong: ({ remove }) => ({ remove: async (key) => (await remove(key)) || true }),
    caughtBy: REMOVES,
  },
  'removes the devices of all users': {
    wrong: ({ remove }, { tables }) => ({
      async removeOfUser() {
        const devices = all(tables);
        for (const device of devices) await remove(device);
        return devices.map(({ id }) => id);
      },
    }),
    caughtBy: REMOVES_ALL,
  },
  'does not say what it has removed': {
    wrong: ({ removeOfUser }) => ({
      async removeOfUser(userId) {
        await removeOfUser(userId);
        return [];
      },
    }),
    caughtBy: REMOVES_ALL,
  },
  'purges live devices': {
    wrong: ({ purge }) => ({ purge: (_now, limit) => purge(Number.MAX_SAFE_INTEGER, limit) }),
    caughtBy: PURGES,
  },
  'purges more than the limit': {
    wrong: ({ purge }) => ({ purge: (now) => purge(now, Number.MAX_SAFE_INTEGER) }),
    caughtBy: PURGES,
  },
  'keeps the devices of a deleted user': {
    wrong: () => ({ forget: () => undefined }),
    caughtBy: 'loses the devices of a user who is deleted',
  },
  'lets errors of its driver through': {
    wrong: (_correct, { untranslated }) => ({ purge: untranslated.purge }),
    caughtBy: FAILS,
  },
  'quotes the driver in the error': {
    wrong: (_correct, { untranslated }) => ({ add: quoting(untranslated.add) }),
    caughtBy: FAILS,
  },
  'has no devices while its store is unavailable, and says nothing': {
    wrong: ({ listByUser }) => ({ listByUser: (...given) => listByUser(...given).catch(() => []) }),
    caughtBy: FAILS,
  },
};

describeRememberedDeviceRepository('the correct repository', inMemory());

describeMutants(
  (make: ReturnType<typeof inMemory>, suite) => describeRememberedDeviceRepository('a mutant', make, suite),
  mutantsOf(inMemory, FAULTS),
);
