import { readFile } from 'node:fs/promises';
import type { ConsoleFiles } from '../../adapters/http/routes/console.ts';

const FOLDER = new URL('../../../console/page/', import.meta.url);
const read = (name: string): Promise<string> => readFile(new URL(name, FOLDER), 'utf8');

/**
 * The files of the console, read for each request (ADR 0043). The page can't read the cookie of the refresh token, so it is told how
 * long such a token lasts.
 * @param refreshLifetime in milliseconds.
 */
export const consoleFiles = (refreshLifetime: number): ConsoleFiles => ({
  page: async () => (await read('console.html')).replace('{refreshLifetime}', `${refreshLifetime}`),
  style: () => read('console.css'),
  script: () => read('console.js'),
});
