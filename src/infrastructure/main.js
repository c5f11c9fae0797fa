#!/usr/bin/env node
// @ts-check
import { useCompileCache } from './compile-cache.js';
import { resolveByName } from './module-resolution.js';

// This file and its two imports above are JavaScript: they run before the compile cache is on, where Node.js would load a compiler to strip types.
if (!process.features.typescript) {
  process.stderr.write(
    `Tandem needs Node.js 22.18 or later. This is ${process.version}. For one project: npm install --save-dev node@26\n`,
  );
  process.exit(1);
}
useCompileCache();
resolveByName();
// All other modules are imported after the compile cache is on.
const { runCommand } = await import('./commands/run.ts');
await runCommand(process.argv.slice(2), process.env);
