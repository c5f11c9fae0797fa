import { randomSecrets } from '../../src/adapters/crypto/secrets.ts';
import { addEvents } from '../../src/application/storage/events.ts';
import type { Stores } from '../../src/application/storage/records.ts';
import type { AccountEvent } from '../../src/domain/event.ts';

/** Stores events as the use cases do. */
export const storeEvents = (
  stores: Pick<Stores, 'users' | 'records' | 'tell'>,
  events: readonly AccountEvent[],
): Promise<void> => addEvents({ secrets: randomSecrets }, stores, events);
