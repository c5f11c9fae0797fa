import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import * as v from 'valibot';
import { NO_STORE, PUBLIC_READ, type Route, route, type Unwrapped } from './routing/define-route.ts';

/** Browsers send less than 200 characters. The library takes milliseconds for the longest header that Node.js accepts. */
const ACCEPT_MAX_LENGTH = 1_000;

/** Whether the client prefers HTML to JSON (RFC 9110 §12.5.1). A client that accepts neither, or everything, gets JSON. */
export const prefersHtml = (ctx: Context): boolean =>
  ctx.get('Accept').length <= ACCEPT_MAX_LENGTH && ctx.accepts('json', 'html') === 'html';

/** The values of `Sec-Fetch-Dest` of navigations (Fetch §2.2.5). Scripts cannot set this header. */
const NAVIGATIONS = ['document', 'iframe', 'frame'];

/** Whether a person sees the response: a browser navigates, or a client without that header prefers HTML on a route that has pages. */
export const isForPerson = (ctx: Context): boolean => {
  const hasPage = ctx.state.route?.errorPages !== false;
  ctx.vary(hasPage ? 'Sec-Fetch-Dest, Accept' : 'Sec-Fetch-Dest');
  const destination = ctx.get('Sec-Fetch-Dest').toLowerCase();
  return destination === '' ? hasPage && prefersHtml(ctx) : NAVIGATIONS.includes(destination);
};

export const HTML_TYPE = 'text/html; charset=utf-8';
export const CSS_TYPE = 'text/css; charset=utf-8';
export const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

/** For pages, and for the files that they load: they are public and the same for everybody. */
export const PAGE_CACHE_CONTROL = 'public, max-age=300';

const NONE = "'none'";
const FORBIDDEN = { 'default-src': NONE, 'base-uri': NONE, 'form-action': NONE, 'frame-ancestors': NONE };

/** A Content-Security-Policy that allows what these directives allow, and nothing else. */
export const contentPolicy = (directives: Readonly<Record<string, string>>): string =>
  Object.entries({ ...FORBIDDEN, ...directives })
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');

const OWN_FILES = { 'style-src': "'self'", 'img-src': "'self'" };

/** The policy of a page that loads stylesheets and images of the service. @param directives further ones, or replacements */
export const pagePolicy = (directives: Readonly<Record<string, string>> = {}): string =>
  contentPolicy({ ...OWN_FILES, ...directives });

/** Scripts cannot turn text into markup. */
export const TRUSTED_TYPES = { 'require-trusted-types-for': "'script'", 'trusted-types': "'none'" };

/** The policy of a page with scripts of the service, which send requests to it. */
export const scriptedPagePolicy = (directives: Readonly<Record<string, string>>): string =>
  pagePolicy({ 'script-src': "'self'", 'connect-src': "'self'", ...TRUSTED_TYPES, ...directives });

export const respondWithHtml = (ctx: Context, text: string, contentSecurityPolicy = pagePolicy()): void => {
  ctx.body = text;
  ctx.set({ 'Content-Type': HTML_TYPE, 'Content-Security-Policy': contentSecurityPolicy });
};

/** A strong entity tag without its quotes (RFC 9110 §8.8.3). */
export const etagOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('base64url');

/** The source of a Content-Security-Policy that admits this script in a page (CSP Level 3 §2.3.1). */
export const hashSourceOf = (script: string): string =>
  `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

type CachedDocument = { readonly text: string; readonly etag: string };

/** Makes a document at the first call, and keeps it. After a failure, the next call tries again. */
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

type Document = Pick<Route, 'name' | 'summary' | 'path'> &
  Omit<Unwrapped, 'cacheControl'> & {
    /** Default: `pages`. */
    readonly tag?: Route['tag'];
    /** Default: that of pages. */
    readonly cacheControl?: string;
    /** An example for the OpenAPI document, or the schema of the text. */
    readonly text?: string | v.GenericSchema<string, string>;
    readonly request?: { readonly query?: v.UnknownSchema };
    readonly errorPages?: boolean;
    readonly read: () => string | Promise<string | CachedDocument>;
  };

const textLike = (example: string) => v.pipe(v.string(), v.examples([example]));

export const HTML_TEXT = textLike('<!doctype html>…');

/** The response of a route whose page is made for its visitor. */
export const pageResponse = (contentSecurityPolicy: string) => ({
  data: HTML_TEXT,
  unwrapped: { type: HTML_TYPE, cacheControl: NO_STORE, contentSecurityPolicy, referrerPolicy: 'same-origin' as const },
});

/** Declares a public text that is sent as it is. */
export const documentRoute = (declared: Document): Route => {
  const { name, tag = 'pages', summary, path, text = '…', request = {}, errorPages, read, ...document } = declared;
  return route({
    ...{ ...PUBLIC_READ, name, tag, summary, at: `GET ${path}`, request, ...(errorPages && { errorPages }) },
    response: {
      data: typeof text === 'string' ? textLike(text) : text,
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
