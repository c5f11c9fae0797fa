import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { PAGE_POLICY } from './stages/security-headers.ts';

/** Characters. Browsers send less than 200. The library would take milliseconds for the longest header that Node accepts. */
const ACCEPT_MAX_LENGTH = 1_000;

/** Whether the client prefers HTML to JSON (RFC 9110 §12.5.1). A client that accepts neither, or everything, gets JSON. */
export const prefersHtml = (ctx: Context): boolean =>
  ctx.get('Accept').length <= ACCEPT_MAX_LENGTH && ctx.accepts('json', 'html') === 'html';

export const HTML_TYPE = 'text/html; charset=utf-8';

/** For pages, and for the files that they load: they are public and the same for everybody. */
export const PAGE_CACHE_CONTROL = 'public, max-age=300';

export const respondWithHtml = (ctx: Context, text: string): void => {
  ctx.body = text;
  ctx.set({ 'Content-Type': HTML_TYPE, 'Content-Security-Policy': PAGE_POLICY });
};

/** A strong entity tag without its quotes (RFC 9110 §8.8.3). */
export const etagOf = (content: string): string => createHash('sha256').update(content).digest('base64url');

/** The source of a Content-Security-Policy that admits this script in a page (CSP Level 3 §2.3.1). */
export const hashSourceOf = (script: string): string =>
  `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

type CachedDocument = { readonly text: string; readonly etag: string };

/** A document that the first call makes, and that is kept from then on. After a failure, the next call tries again. */
export const cachedDocument = (make: () => Promise<string>): (() => Promise<CachedDocument>) => {
  let cached: Promise<CachedDocument> | undefined;
  return () => {
    cached ??= make().then(
      (text) => ({ text, etag: etagOf(text) }),
      (error: unknown) => {
        cached = undefined;
        throw error;
      },
    );
    return cached;
  };
};
