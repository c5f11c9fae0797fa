import type { Storage, Stores } from '../../application/ports/transactions.ts';
import type { UserRepository } from '../../application/ports/user-repository.ts';
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

/**
 * The stores over records, those of a unit or those outside.
 * @param users those of the application, if it has a table of users of its own; the others ask them, and not the table of `records`.
 */
export const storesOver = (records: Records, users: UserRepository = userRepositoryOver(records)): Stores => ({
  users,
  sessions: sessionRepositoryOver(records, users),
  events: eventRepositoryOver(records, users),
  links: linkRepositoryOver(records),
  outbox: outboxOver(records),
  used: usedValuesOver(records),
  passkeys: passkeyRepositoryOver(records),
  factors: factorRepositoryOver(records),
  devices: rememberedDeviceRepositoryOver(records),
});

/**
 * The whole storage of the service over records.
 * @param open makes the stores: with users of one's own, or with a method that is faster in one statement.
 *
 * @example
 * const storage = storageOver(records, (inside) => storesOver(inside, usersOfTheShop()));
 */
export const storageOver = (records: Records, open: (records: Records) => Stores = storesOver): Storage => ({
  ...open(records),
  transactions: { run: (work) => records.unit((inside) => work(open(inside))) },
});
