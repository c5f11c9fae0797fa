import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** `npm run dev` imports this. `node --watch` then restarts the service when `.env` changes; `--watch-path` would fail without the file. */
if (existsSync('.env')) process.send?.({ 'watch:require': [resolve('.env')] });
