import { readdirSync, readFileSync } from 'node:fs';
import type { UserPageFiles } from '../../adapters/http/pages/user-pages.ts';

const PAGES = new URL('../../adapters/http/pages/', import.meta.url);

const filesIn = (directory: string, pattern: RegExp): (readonly [name: string, text: string])[] =>
  readdirSync(new URL(directory, PAGES)).flatMap((file) => {
    const [, name] = pattern.exec(file) ?? [];
    return name === undefined ? [] : [[name, readFileSync(new URL(directory + file, PAGES), 'utf8')] as const];
  });

/** The templates and texts of the service. */
export const builtInPages = (): UserPageFiles => ({
  templates: new Map(filesIn('templates/', /^(.+)\.html$/)),
  texts: new Map(filesIn('texts/', /^user-(.+)\.json$/).map(([locale, text]) => [locale, JSON.parse(text)])),
});
