import type { Storage, Stores } from '../../../src/application/ports/unit-of-work.ts';
import { memoryEventRepository } from './event-repository.ts';
import { memoryFactorRepository } from './factor-repository.ts';
import { memoryLinkRepository } from './link-repository.ts';
import { memoryOutbox } from './outbox.ts';
import { memoryPasskeyRepository } from './passkey-repository.ts';
import { memoryRememberedDeviceRepository } from './remembered-device-repository.ts';
import { memorySessionRepository } from './session-repository.ts';
import { memoryTables, type SharedTables, type Tables } from './tables.ts';
import { memoryUnitOfWork } from './unit-of-work.ts';
import { memoryUsedValues } from './used-values.ts';
import { memoryUserRepository } from './user-repository.ts';

/** Stores over tables in memory. Removing a user removes everything about them. */
const storesOver = (tables: Tables): Stores => {
  const { has, ...users } = memoryUserRepository(tables);
  const sessions = memorySessionRepository(tables);
  const events = memoryEventRepository(has, tables);
  const links = memoryLinkRepository(tables);
  const outbox = memoryOutbox(tables);
  const passkeys = memoryPasskeyRepository(tables);
  const factors = memoryFactorRepository(tables);
  const devices = memoryRememberedDeviceRepository(tables);
  return {
    users: {
      ...users,
      async remove(id) {
        await users.remove(id);
        await sessions.endByUser(id, null);
        events.removeOfUser(id);
        links.removeAllOfUser(id);
        outbox.removeOfUser(id);
        passkeys.removeOfUser(id);
        factors.removeOfUser(id);
        await devices.removeOfUser(id);
      },
    },
    sessions,
    events,
    links,
    outbox,
    used: memoryUsedValues(tables),
    passkeys,
    factors,
    devices,
  };
};

/** Stores in memory that are changed together. */
export const memoryStores = (tables: SharedTables = memoryTables()): Storage => ({
  ...storesOver(tables),
  unitOfWork: memoryUnitOfWork(tables, storesOver),
});
