// @ts-check
import { useCompileCache } from './compile-cache.js';
import { resolveByName } from './module-resolution.js';

const STARTS_WITH = [
  './commands/run.ts',
  './commands/users.ts',
  './serve.ts',
  './compose.ts',
  './open-sql.ts',
  '../adapters/redis/open.ts',
  '../adapters/metrics/prometheus.ts',
  '@mikro-orm/postgresql',
];

// `npm ci` runs this, and the image is built with it: so the first start finds the compiled code of what starts load (ADR 0021). An older Node.js
// could not run it: main.js says so.
if (process.features.typescript) {
  useCompileCache();
  resolveByName();
  for (const name of STARTS_WITH) await import(name);
}
