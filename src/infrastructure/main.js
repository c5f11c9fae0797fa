#!/usr/bin/env node
// @ts-check
import { useCompileCache } from './compile-cache.js';
import { resolveByName } from './module-resolution.js';

// This module and those are JavaScript: to strip the types of a module that the cache does not have, Node loads a compiler at each start.
if (!process.features.typescript) {
  process.stderr.write(
    `Tandem needs Node.js 22.18 or later. This is ${process.version}. For one project: npm install --save-dev node@26\n`,
  );
  process.exit(1);
}
useCompileCache();
resolveByName();
// Everything else is imported after this, so that the cache has it.
const { runCommand } = await import('./commands/run.ts');
await runCommand(process.argv.slice(2), process.env);
