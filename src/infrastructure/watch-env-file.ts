import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Imported by `npm run dev` before the service: reports `.env` to `node --watch` with the message that Node sends for an imported
 * module, so that a change of the file restarts the service. `--watch-path` fails without the file, and `--env-file-if-exists`
 * prints a message then.
 */
if (existsSync('.env')) process.send?.({ 'watch:require': [resolve('.env')] });
