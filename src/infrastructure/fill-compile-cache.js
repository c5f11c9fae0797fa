// @ts-check
import { useCompileCache } from './compile-cache.js';
import { resolveByName } from './module-resolution.js';

const MODULES = [
  './commands/run.ts',
  './commands/users.ts',
  './serve.ts',
  './compose.ts',
  './open-sql.ts',
  '../adapters/redis/open.ts',
  '../adapters/metrics/prometheus.ts',
  '@mikro-orm/postgresql',
];

// `npm ci` and the build of the image run this file, so that the first start finds compiled code (ADR 0021). main.js reports a Node.js before 22.18.
if (process.features.typescript) {
  useCompileCache();
  resolveByName();
  for (const name of MODULES) await import(name);
}
