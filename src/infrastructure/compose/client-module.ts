import { readFileSync } from 'node:fs';

const read = (name: string): string => readFileSync(new URL(`../../../client/dist/${name}`, import.meta.url), 'utf8');

/** The modules of the browser client as `npm run client` has built them (ADR 0037). */
export const readClientModules = () => ({ session: read('client.js'), account: read('client-account.js') });

/** The script of the service's own pages for links in mail. */
export const readAccountPageScript = (): string => read('account-page.js');
