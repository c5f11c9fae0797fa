import { memoryEventRepository } from '../../adapters/event-repository/memory.ts';
import { memoryLinkRepository } from '../../adapters/link-repository/memory.ts';
import { memoryTables, type SharedTables, type Tables } from '../../adapters/memory/tables.ts';
import { memoryOutbox } from '../../adapters/outbox/memory.ts';
import { memorySessionRepository } from '../../adapters/session-repository/memory.ts';
import { memoryUnitOfWork } from '../../adapters/unit-of-work/memory.ts';
import { memoryUserRepository } from '../../adapters/user-repository/memory.ts';
import type { Storage, Stores } from '../../application/ports/unit-of-work.ts';

/** Stores over tables in memory. Removing a user removes everything about them. */
const storesOver = (tables: Tables): Stores => {
  const { has, ...users } = memoryUserRepository(tables);
  const sessions = memorySessionRepository(tables);
  const events = memoryEventRepository(has, tables);
  const links = memoryLinkRepository(tables);
  const outbox = memoryOutbox(tables);
  return {
    users: {
      ...users,
      async remove(id) {
        await users.remove(id);
        await sessions.endByUser(id, null);
        events.removeOfUser(id);
        links.removeAllOfUser(id);
        outbox.removeOfUser(id);
      },
    },
    sessions,
    events,
    links,
    outbox,
  };
};

/** Stores in memory that are changed together. */
export const memoryStores = (tables: SharedTables = memoryTables()): Storage => ({
  ...storesOver(tables),
  unitOfWork: memoryUnitOfWork(tables, storesOver),
});
