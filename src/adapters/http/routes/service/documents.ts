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

/** ADR 0016. @param routes called when the document is made, since the route describes itself, too */
export const openApiRoute = (routes: () => readonly Route[], site: Site, introduction?: string): Route =>
  documentRoute({
    name: 'open-api',
    tag: 'documents',
    summary: 'Return this document',
    path: '/openapi.json',
    type: 'application/json',
    text: DocumentText,
    read: cachedDocument(async () => {
      // Most processes never need it.
      const { openApiDocument } = await import('../../openapi/document.ts');
      return JSON.stringify(openApiDocument(routes(), site, introduction));
    }),
  });

/** The summary and the exports of each module, by its name. */
const MODULES = {
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

/** The browser client. ADR 0023. @param read returns the text of a file */
export const clientRoutes = (read: (file: string) => string): Route[] =>
  Object.entries(MODULES).map(([name, [summary, exports]]) => {
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

/** The page contains its icon. The frame has the key of the device. */
const POLICY = scriptedPagePolicy({ 'img-src': 'data:', 'frame-src': "'self'" });

/** Browsers check the stored file at each use. */
const COMMON = { cacheControl: 'no-cache' };

/** ADR 0024. */
export const consoleRoutes = ({ page, style, script }: ConsoleFiles): Route[] => [
  documentRoute({
    ...COMMON,
    name: 'console',
    summary: 'Return the console, a page for developers',
    path: '/console',
    // The pages for users lead back to it with the parameter `tandem`.
    request: { query: v.unknown() },
    type: HTML_TYPE,
    contentSecurityPolicy: POLICY,
    text: '<!doctype html>…',
    read: page,
  }),
  documentRoute({
    ...COMMON,
    name: 'console-style',
    summary: 'Return the style sheet of the console',
    path: '/console.css',
    type: CSS_TYPE,
    text: ':root { color-scheme: light dark; }…',
    read: style,
  }),
  documentRoute({
    ...COMMON,
    name: 'console-script',
    summary: 'Return the script of the console',
    path: '/console.js',
    type: SCRIPT_TYPE,
    text: "import { AuthError, createAuthClient } from './client.js';…",
    read: script,
  }),
];
