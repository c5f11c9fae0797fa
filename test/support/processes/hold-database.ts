import { openDatabase } from '../../../src/adapters/mikro-orm/open-database.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { aUser } from '../builders.ts';

/** A process that opens a file of SQLite, adds a user of this name, prints the user and never closes the file. */
const [, , path = '', username = ''] = process.argv;
const { records } = await openDatabase(
  { kind: 'sqlite', path, synchronous: 'normal', tablePrefix: '' },
  { migrate: true },
);
const user = aUser({ id: username.padStart(26, '0'), username, email: `${username}@example.org` });
await storageOver(records).users.add(user);
process.stdout.write(JSON.stringify(user));
process.stdin.resume();
