import { memoryEventRepository } from '../../adapters/event-repository/memory.ts';
import { memoryLinkRepository } from '../../adapters/link-repository/memory.ts';
import type { Journal } from '../../adapters/memory/journal.ts';
import { memoryOutbox } from '../../adapters/outbox/memory.ts';
import { memorySessionRepository } from '../../adapters/session-repository/memory.ts';
import { memoryUnitOfWork } from '../../adapters/unit-of-work/memory.ts';
import { memoryUserRepository } from '../../adapters/user-repository/memory.ts';
import type { Stores, UnitOfWork } from '../../application/ports/unit-of-work.ts';

/** Stores in memory that are changed together. A removed user takes everything about them along. */
export const memoryStores = (): Stores & { readonly unitOfWork: UnitOfWork } => {
  const journal: Journal = { undo: null };
  const users = memoryUserRepository(journal);
  const sessions = memorySessionRepository(journal);
  const events = memoryEventRepository(users.has, journal);
  const links = memoryLinkRepository(journal);
  const outbox = memoryOutbox(journal);
  const stores: Stores = {
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
  return { ...stores, unitOfWork: memoryUnitOfWork(stores, journal) };
};
