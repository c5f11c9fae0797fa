import type { Middleware } from 'koa';
import helmet from 'koa-helmet';

/** A response may load nothing, and nothing may frame it. The pages of the service declare a policy of their own. */
export const setHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] },
  },
  frameguard: { action: 'deny' },
});

/** For pages instead: they may load a stylesheet and an image of the service, and still no script. ADR 0024. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';');

/** For pages with scripts of the service, which may call it, and make no markup from text. */
export const scriptedPagePolicy = ({ images, frames }: { readonly images: string; readonly frames?: string }): string =>
  [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self'", `img-src ${images}`, "connect-src 'self'"],
    ...(frames === undefined ? [] : [`frame-src ${frames}`]),
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
    ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
  ].join('; ');

/** Stage 1. */
export const securityHeaders = (): Middleware =>
  function securityHeaders(ctx, next) {
    return setHeaders(ctx, next);
  };
