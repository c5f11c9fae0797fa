#!/usr/bin/env node
// @ts-check
import { useCompileCache } from './compile-cache.js';
import { resolveByName } from './module-resolution.js';

// These three modules are JavaScript: they run before the cache is on, and to strip types Node would load a compiler at each start.
if (!process.features.typescript) {
  process.stderr.write(
    `Tandem needs Node.js 22.18 or later. This is ${process.version}. For one project: npm install --save-dev node@26\n`,
  );
  process.exit(1);
}
useCompileCache();
resolveByName();
// Everything else is imported after the cache is on.
const { runCommand } = await import('./commands/run.ts');
await runCommand(process.argv.slice(2), process.env);
