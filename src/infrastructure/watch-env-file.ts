import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Imported by `npm run dev`. Reports `.env` to `node --watch` as Node reports an imported module, so that a change of the file restarts the
 * service. `--watch-path` would fail without the file.
 */
if (existsSync('.env')) process.send?.({ 'watch:require': [resolve('.env')] });
