import { readFile } from 'node:fs/promises';
import type { ConsoleFiles } from '../../adapters/http/routes/console.ts';

const FOLDER = new URL('../../../console/page/', import.meta.url);
const read = (name: string): Promise<string> => readFile(new URL(name, FOLDER), 'utf8');

type Facts = {
  /** Milliseconds. The page can't read the cookie of the refresh token, so it is told how long such a token lasts. */
  readonly refreshLifetime: number;
  readonly sendsMail: boolean;
};

/** The files of the console, read for each request (ADR 0043). */
export const consoleFiles = ({ refreshLifetime, sendsMail }: Facts): ConsoleFiles => ({
  page: async () =>
    (await read('console.html'))
      .replace('{refreshLifetime}', `${refreshLifetime}`)
      .replace('{offers}', sendsMail ? 'mail' : ''),
  style: () => read('console.css'),
  script: () => read('console.js'),
});
