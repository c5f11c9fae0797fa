import * as v from 'valibot';
import {
  cachedDocument,
  documentRoute,
  HTML_TYPE,
  SCRIPT_TYPE,
  scriptedPagePolicy,
  textLike,
} from '../../documents.ts';
import type { Site } from '../../pages/layout.ts';
import type { Route } from '../../routing/define-route.ts';

/** Seconds. */
const MAX_AGE = 300;

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
export const openApiRoutes = (routes: () => readonly Route[], site: Site, introduction?: string): Route[] => [
  documentRoute(
    {
      name: 'open-api',
      tag: 'documents',
      summary: 'Return this document',
      path: '/openapi.json',
      data: DocumentText,
      unwrapped: { type: 'application/json', cacheControl: `public, max-age=${MAX_AGE}` },
    },
    cachedDocument(async () => {
      // Most processes never need it.
      const { openApiDocument } = await import('../../openapi/document.ts');
      return JSON.stringify(openApiDocument(routes(), site, introduction));
    }),
  ),
];

const UNWRAPPED = {
  type: SCRIPT_TYPE,
  cacheControl: 'public, max-age=300',
  embeddable: true,
} as const;

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
    const path = `/${name}.js` as const;
    const text = read(`${name}.js`);
    const data = textLike(`export { ${exported} };`);
    return documentRoute({ name, tag: 'documents', summary, path, data, unwrapped: UNWRAPPED }, () => text);
  });

/** The script of the pages for users, which only they load. */
export const userScriptRoute = (script: string): Route =>
  documentRoute(
    {
      name: 'user-pages-script',
      tag: 'pages',
      summary: 'Return the script of the pages for users',
      path: '/user-pages.js',
      data: textLike('addEventListener(…);'),
      unwrapped: { type: SCRIPT_TYPE, cacheControl: `public, max-age=${MAX_AGE}` },
    },
    () => script,
  );

/** Reads the files of the page. */
export type ConsoleFiles = {
  readonly page: () => Promise<string>;
  readonly style: () => Promise<string>;
  readonly script: () => Promise<string>;
};

/** The icon is in the page, and the frame is that of the key of the device. */
const POLICY = scriptedPagePolicy({ images: 'data:', frames: "'self'" });

/** Browsers ask each time whether a stored file is up to date. */
const COMMON = { cacheControl: 'no-cache' };

/** A page that shows tokens, sessions and requests to developers: `console/`, ADR 0024. */
export const consoleRoutes = ({ page, style, script }: ConsoleFiles): Route[] => [
  documentRoute(
    {
      name: 'console',
      tag: 'pages',
      summary: 'Return the console, a page for developers',
      path: '/console',
      // The pages for users lead back to it with a mark, which the client removes.
      request: { query: v.unknown() },
      data: textLike('<!doctype html>…'),
      unwrapped: { ...COMMON, type: HTML_TYPE, contentSecurityPolicy: POLICY },
    },
    page,
  ),
  documentRoute(
    {
      name: 'console-style',
      tag: 'pages',
      summary: 'Return the style sheet of the console',
      path: '/console.css',
      data: textLike(':root { color-scheme: light dark; }…'),
      unwrapped: { ...COMMON, type: 'text/css; charset=utf-8' },
    },
    style,
  ),
  documentRoute(
    {
      name: 'console-script',
      tag: 'pages',
      summary: 'Return the script of the console',
      path: '/console.js',
      data: textLike("import { AuthError, createAuthClient } from './client.js';…"),
      unwrapped: { ...COMMON, type: SCRIPT_TYPE },
    },
    script,
  ),
];
