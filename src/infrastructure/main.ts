import { useCompileCache } from './compile-cache.ts';
import { makeFilesPrivate } from './data-dir/private-data.ts';

makeFilesPrivate();
useCompileCache();
// Everything else is imported after this, so that the cache has it.
const { runCommand } = await import('./commands/run.ts');
await runCommand(process.argv.slice(2), process.env);
