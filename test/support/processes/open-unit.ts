import { openSql } from '../../../src/infrastructure/open-sql.ts';
import { aSession, type aUser } from '../builders.ts';

/** A process that prints a line in the middle of a transaction and stays there. Its arguments are the database and the user to add. */
const [options, user] = process.argv.slice(2).map((text) => JSON.parse(text)) as [
  Parameters<typeof openSql>[0],
  ReturnType<typeof aUser>,
];
const { transactions } = await openSql(options, { migrate: false });
await transactions.run(async ({ users, sessions }) => {
  await users.add(user);
  await sessions.add(aSession({ userId: user.id }));
  process.stdout.write('in the middle\n');
  // Waits until the process is killed.
  await new Promise(() => setInterval(() => undefined, 60_000));
});
