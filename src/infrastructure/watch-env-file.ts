import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** Loaded by `npm run dev`: if there is a file `.env`, makes `node --watch` restart the service when it changes. */
if (existsSync('.env')) process.send?.({ 'watch:require': [resolve('.env')] });
