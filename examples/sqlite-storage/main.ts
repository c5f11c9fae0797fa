import { parseConfig, rotationBudget, serve } from 'tandem';
import { openDatabase } from './database.ts';
import { sqliteSessionRepository } from './session-repository.ts';
import { sqliteUserRepository } from './user-repository.ts';

// The files that this process creates are for its user only.
process.umask(0o077);
const config = parseConfig(process.env);
const database = openDatabase(process.env.SQLITE_FILE ?? 'tandem.sqlite');
const stop = await serve(config, {
  ports: {
    users: sqliteUserRepository(database),
    sessions: sqliteSessionRepository(database, { budget: rotationBudget(config) }),
  },
  checks: [{ name: 'sqlite', ping: async () => database.exec('select 1 from users limit 1'), required: true }],
  close: () => database.close(),
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop);
