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

/** Describes all routes, its own among them. ADR 0016. */
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

/** By their names. The others import the first. */
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

/** The browser client as modules: `client/`, ADR 0023. @param read returns the text of a file. */
export const clientRoutes = (read: (file: string) => string): Route[] =>
  Object.entries(MODULES).map(([name, [summary, exported]]) => {
    const text = read(`${name}.js`);
    const [path, exports] = [`/${name}.js` as const, `export { ${exported} };`];
    const about = { name, tag: 'documents', summary, path, text: exports } as const;
    return documentRoute({
      ...about,
      type: SCRIPT_TYPE,
      embeddable: true,
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

/** The icon is in the page, and the frame is that of the key of the device. */
const POLICY = scriptedPagePolicy({ images: 'data:', frames: "'self'" });

/** Browsers ask each time whether a stored file is up to date. */
const COMMON = { cacheControl: 'no-cache' };

/** A page that shows tokens, sessions and requests to developers: `console/`, ADR 0024. */
export const consoleRoutes = ({ page, style, script }: ConsoleFiles): Route[] => [
  documentRoute({
    ...COMMON,
    name: 'console',
    summary: 'Return the console, a page for developers',
    path: '/console',
    // The pages for users lead back to it with a mark, which the client removes.
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
