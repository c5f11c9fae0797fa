import { parseConfig, rotationBudget, serve } from 'tandem';
import { openSqliteStorage } from './storage.ts';

// The files that this process creates are for its user only.
process.umask(0o077);
const config = parseConfig(process.env);
const { storage, ping, close } = openSqliteStorage(process.env.SQLITE_FILE ?? 'tandem.sqlite', {
  budget: rotationBudget(config),
});
const stop = await serve(config, { storage, checks: [{ name: 'sqlite', ping, required: true }], close });
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop);
