import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import * as v from 'valibot';
import { NO_STORE, PUBLIC_READ, type Route, route, type Unwrapped } from './routing/define-route.ts';

/** Characters. A longer header counts as none: Koa takes milliseconds to parse the longest that Node.js accepts. Browsers send less than 200. */
const ACCEPT_MAX_LENGTH = 1_000;

/** Whether the client prefers HTML to JSON (RFC 9110 §12.5.1). A client that accepts neither, or both alike, gets JSON. */
export const prefersHtml = (ctx: Context): boolean =>
  ctx.get('Accept').length <= ACCEPT_MAX_LENGTH && ctx.accepts('json', 'html') === 'html';

/** The values of `Sec-Fetch-Dest` (Fetch Metadata) for documents in tabs and frames. Scripts of pages cannot set this header. */
const NAVIGATION_DESTINATIONS = ['document', 'iframe', 'frame'];

/** Whether an error becomes a page: if a browser navigates, or, unless the route has no error pages, if a client without `Sec-Fetch-Dest` prefers HTML. */
export const isForPerson = (ctx: Context): boolean => {
  const hasPage = ctx.state.route?.errorPages !== false;
  ctx.vary(hasPage ? 'Sec-Fetch-Dest, Accept' : 'Sec-Fetch-Dest');
  const destination = ctx.get('Sec-Fetch-Dest').toLowerCase();
  return destination === '' ? hasPage && prefersHtml(ctx) : NAVIGATION_DESTINATIONS.includes(destination);
};

export const HTML_TYPE = 'text/html; charset=utf-8';
export const CSS_TYPE = 'text/css; charset=utf-8';
export const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

/** The `Cache-Control` of pages in place of public JSON, and the default of `documentRoute`. */
export const PAGE_CACHE_CONTROL = 'public, max-age=300';

const NONE = "'none'";
const DENIED_BY_DEFAULT = { 'default-src': NONE, 'base-uri': NONE, 'form-action': NONE, 'frame-ancestors': NONE };

/** A Content-Security-Policy with these directives. Without any, a page may load nothing, send no form, and be in no frame. */
export const contentPolicy = (directives: Readonly<Record<string, string>>): string =>
  Object.entries({ ...DENIED_BY_DEFAULT, ...directives })
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');

const OWN_STYLES_AND_IMAGES = { 'style-src': "'self'", 'img-src': "'self'" };

/** The policy of a page that loads stylesheets and images of the service. @param directives are added to those of the policy, or replace them by name */
export const pagePolicy = (directives: Readonly<Record<string, string>> = {}): string =>
  contentPolicy({ ...OWN_STYLES_AND_IMAGES, ...directives });

/** Directives of Trusted Types: scripts cannot turn a text into markup by `innerHTML` and the like. */
export const TRUSTED_TYPES = { 'require-trusted-types-for': "'script'", 'trusted-types': "'none'" };

/** The policy of a page that also loads scripts of the service, and whose scripts send requests to the service. */
export const scriptedPagePolicy = (directives: Readonly<Record<string, string>>): string =>
  pagePolicy({ 'script-src': "'self'", 'connect-src': "'self'", ...TRUSTED_TYPES, ...directives });

export const respondWithHtml = (ctx: Context, text: string, contentSecurityPolicy = pagePolicy()): void => {
  ctx.body = text;
  ctx.set({ 'Content-Type': HTML_TYPE, 'Content-Security-Policy': contentSecurityPolicy });
};

/** A hash of the content, which identifies it in an entity tag (RFC 9110 §8.8.3). */
export const etagOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('base64url');

/** The hash source by which a Content-Security-Policy admits an inline script (CSP Level 3 §2.3.1). */
export const hashSourceOf = (script: string): string =>
  `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

type CachedDocument = { readonly text: string; readonly etag: string };

/** Renders a document at the first call, and returns the same at each later call. After a failure, the next call renders again. */
export const cachedDocument = (render: () => Promise<string>): (() => Promise<CachedDocument>) => {
  let cached: Promise<CachedDocument> | undefined;
  return () => {
    cached ??= render().then(
      (text) => ({ text, etag: etagOf(text) }),
      (error: unknown) => {
        cached = undefined;
        throw error;
      },
    );
    return cached;
  };
};

type DocumentDeclaration = Pick<Route, 'name' | 'summary' | 'path'> &
  Omit<Unwrapped, 'cacheControl'> & {
    readonly tag?: Route['tag'];
    readonly cacheControl?: string;
    /** An example of the text for the OpenAPI document, or the schema of the text. */
    readonly text?: string | v.GenericSchema<string, string>;
    readonly request?: { readonly query?: v.UnknownSchema };
    readonly errorPages?: boolean;
    readonly read: () => string | Promise<string | CachedDocument>;
  };

const textWithExample = (example: string) => v.pipe(v.string(), v.examples([example]));

export const HTML_TEXT = textWithExample('<!doctype html>…');

/** The response of a route whose page depends on the visitor, so that caches must not store it. */
export const pageResponse = (contentSecurityPolicy: string) => ({
  data: HTML_TEXT,
  unwrapped: { type: HTML_TYPE, cacheControl: NO_STORE, contentSecurityPolicy, referrerPolicy: 'same-origin' as const },
});

/** Declares a route that returns a public text without an envelope. */
export const documentRoute = (declaration: DocumentDeclaration): Route => {
  const { name, tag = 'pages', summary, path, text = '…', request = {}, errorPages, read, ...document } = declaration;
  return route({
    ...{ ...PUBLIC_READ, name, tag, summary, at: `GET ${path}`, request, ...(errorPages && { errorPages }) },
    response: {
      data: typeof text === 'string' ? textWithExample(text) : text,
      unwrapped: { cacheControl: PAGE_CACHE_CONTROL, ...document },
    },
    handler: async (_input, ctx) => {
      const content = await read();
      if (typeof content === 'string') return content;
      ctx.etag = content.etag;
      return content.text;
    },
  });
};
