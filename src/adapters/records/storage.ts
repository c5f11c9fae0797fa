import type { Storage, Stores } from '../../application/ports/unit-of-work.ts';
import { eventRepositoryOver } from './events.ts';
import { factorRepositoryOver } from './factors.ts';
import { linkRepositoryOver } from './links.ts';
import { outboxOver } from './outbox.ts';
import { passkeyRepositoryOver } from './passkeys.ts';
import type { Records } from './records.ts';
import { rememberedDeviceRepositoryOver } from './remembered-devices.ts';
import { sessionRepositoryOver } from './sessions.ts';
import { usedValuesOver } from './used-values.ts';
import { userRepositoryOver } from './users.ts';

/** The stores over records, those of a unit or those outside. */
export const storesOver = (records: Records): Stores => ({
  users: userRepositoryOver(records),
  sessions: sessionRepositoryOver(records),
  events: eventRepositoryOver(records),
  links: linkRepositoryOver(records),
  outbox: outboxOver(records),
  used: usedValuesOver(records),
  passkeys: passkeyRepositoryOver(records),
  factors: factorRepositoryOver(records),
  devices: rememberedDeviceRepositoryOver(records),
});

/**
 * The whole storage of the service over records.
 * @param open makes the stores, for example with a repository of one's own, or with a method that is faster in one statement.
 *
 * @example
 * const storage = storageOver(records, (inside) => ({ ...storesOver(inside), users: usersOfTheShop(inside) }));
 */
export const storageOver = (records: Records, open: (records: Records) => Stores = storesOver): Storage => ({
  ...open(records),
  unitOfWork: { run: (work) => records.unit((inside) => work(open(inside))) },
});
