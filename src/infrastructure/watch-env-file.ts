import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** Loaded by `npm run dev`: makes `node --watch` restart the service when `.env` changes. `--watch-path` would fail if there is no `.env`. */
if (existsSync('.env')) process.send?.({ 'watch:require': [resolve('.env')] });
