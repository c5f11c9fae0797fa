import type { Route } from '../../routing/define-route.ts';
import { documentRoute, textLike } from '../../routing/document-route.ts';
import { scriptedPagePolicy } from '../../stages/security-headers.ts';

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

/** A page that uses every part of the service: `console/`, ADR 0024. */
export const consoleRoutes = ({ page, style, script }: ConsoleFiles): Route[] => [
  documentRoute(
    {
      name: 'console',
      tag: 'pages',
      summary: 'Return the console, a page for developers',
      path: '/console',
      data: textLike('<!doctype html>…'),
      unwrapped: { ...COMMON, type: 'text/html; charset=utf-8', contentSecurityPolicy: POLICY },
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
      unwrapped: { ...COMMON, type: 'text/javascript; charset=utf-8' },
    },
    script,
  ),
];
