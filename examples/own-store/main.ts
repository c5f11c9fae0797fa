import { Pool } from 'pg';
import { parseConfig, serve, storageOver } from 'tandem';
import { pgRecords } from './records.ts';
import { createTables } from './schema.ts';

// The files that this process creates are for its user only.
process.umask(0o077);
const config = parseConfig(process.env);
// Milliseconds. A server that does not answer is an error soon, also in the middle of a transaction.
const limits = { connectionTimeoutMillis: 5_000, query_timeout: 5_000, idle_in_transaction_session_timeout: 10_000 };
// Single statements, too, whatever the default of the database: then they are not undone because of others.
const options = '-c default_transaction_isolation=read\\ committed';
const pool = new Pool({ connectionString: process.env.SHOP_DATABASE_URL, options, ...limits });
const { records, send } = pgRecords(pool);
await createTables(pool);
await serve(config, {
  storage: storageOver(records),
  checks: [{ name: 'postgresql', ping: () => send('select 1 from auth.users limit 1'), required: true }],
  close: () => pool.end(),
});
