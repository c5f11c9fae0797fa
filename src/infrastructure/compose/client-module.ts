import { readFileSync } from 'node:fs';

const FILE = new URL('../../../client/dist/client.js', import.meta.url);

/** The browser client as `npm run client` has built it (ADR 0037). */
export const readClientModule = (): string => readFileSync(FILE, 'utf8');
