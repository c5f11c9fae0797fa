import { mikroOrmUserRepository } from '../../../src/adapters/user-repository/mikro-orm.ts';
import { openDatabase } from '../../../src/infrastructure/database/database.ts';
import { aUser } from '../builders.ts';

/** A process that opens an embedded database, adds a user, prints the user and never closes the database. */
const [, , dataDir = ''] = process.argv;
const { em } = await openDatabase({ kind: 'embedded', dataDir }, { migrate: true });
const user = aUser();
await mikroOrmUserRepository({ em }).add(user);
process.stdout.write(JSON.stringify(user));
process.stdin.resume();
