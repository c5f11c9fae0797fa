import * as v from 'valibot';
import {
  CSS_TYPE,
  cachedDocument,
  documentRoute,
  HTML_TYPE,
  SCRIPT_TYPE,
  scriptedPagePolicy,
} from '../../documents.ts';
import type { Site } from '../../pages/layout.ts';
import type { Route } from '../../routing/define-route.ts';

const DocumentText = v.pipe(
  v.string(),
  v.metadata({
    jsonSchema: {
      type: 'object',
      description: 'An OpenAPI 3.1 document.',
      examples: [{ openapi: '3.1.1', info: { title: 'Tandem', version: '1.0.0' }, paths: {} }],
    },
  }),
);

/** The OpenAPI document (ADR 0016). @param routes is called at the first request, since the document also describes this route */
export const openApiRoute = (routes: () => readonly Route[], site: Site, introduction?: string): Route =>
  documentRoute({
    name: 'open-api',
    tag: 'documents',
    summary: 'Return this document',
    path: '/openapi.json',
    type: 'application/json',
    text: DocumentText,
    read: cachedDocument(async () => {
      const { openApiDocument } = await import('../../openapi/document.ts');
      return JSON.stringify(openApiDocument(routes(), site, introduction));
    }),
  });

/** The summary and the exports of each module of the browser client, by its name. */
const CLIENT_MODULES = {
  client: ['Return the browser client as a JavaScript module', 'AuthError, createAuthClient'],
  'client-account': [
    'Return the calls about an account as a JavaScript module, for the browser client',
    'createAccountClient',
  ],
  'client-passkeys': [
    'Return the calls about passkeys as a JavaScript module, for the browser client',
    'createPasskeyClient',
  ],
} as const;

/** The modules of the browser client (ADR 0023). @param read returns the text of a file of the client */
export const clientRoutes = (read: (file: string) => string): Route[] =>
  Object.entries(CLIENT_MODULES).map(([name, [summary, exports]]) => {
    const text = read(`${name}.js`);
    return documentRoute({
      ...{ name, tag: 'documents', summary, path: `/${name}.js`, type: SCRIPT_TYPE, embeddable: true },
      text: `export { ${exports} };`,
      read: () => text,
    });
  });

export const userScriptRoute = (script: string): Route =>
  documentRoute({
    name: 'user-pages-script',
    summary: 'Return the script of the pages for users',
    path: '/user-pages.js',
    type: SCRIPT_TYPE,
    text: 'addEventListener(…);',
    read: () => script,
  });

export type ConsoleFiles = Readonly<Record<'page' | 'style' | 'script', () => Promise<string>>>;

/** The policy of the console: its icon is a `data:` URL, and a frame of the service has the key of the device. */
const CONSOLE_POLICY = scriptedPagePolicy({ 'img-src': 'data:', 'frame-src': "'self'" });

/** With `no-cache`, browsers ask at each use whether their stored file is still the current one. */
const CONSOLE_FILE = { cacheControl: 'no-cache' };

/** The console, a page on which developers try the service (ADR 0024). */
export const consoleRoutes = ({ page, style, script }: ConsoleFiles): Route[] => [
  documentRoute({
    ...CONSOLE_FILE,
    name: 'console',
    summary: 'Return the console, a page for developers',
    path: '/console',
    // Any query, since pages for users lead back to the console with the parameter `tandem`.
    request: { query: v.unknown() },
    type: HTML_TYPE,
    contentSecurityPolicy: CONSOLE_POLICY,
    text: '<!doctype html>…',
    read: page,
  }),
  documentRoute({
    ...CONSOLE_FILE,
    name: 'console-style',
    summary: 'Return the style sheet of the console',
    path: '/console.css',
    type: CSS_TYPE,
    text: ':root { color-scheme: light dark; }…',
    read: style,
  }),
  documentRoute({
    ...CONSOLE_FILE,
    name: 'console-script',
    summary: 'Return the script of the console',
    path: '/console.js',
    type: SCRIPT_TYPE,
    text: "import { AuthError, createAuthClient } from './client.js';…",
    read: script,
  }),
];
