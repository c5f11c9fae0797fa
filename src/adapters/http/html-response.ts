import type { Context } from 'koa';
import { PAGE_POLICY } from './stages/security-headers.ts';

export const HTML_TYPE = 'text/html; charset=utf-8';

/** Of pages and of what they load. They are public and the same for everybody. */
export const PAGE_CACHE_CONTROL = 'public, max-age=300';

export const respondWithHtml = (ctx: Context, text: string): void => {
  ctx.body = text;
  ctx.set({ 'Content-Type': HTML_TYPE, 'Content-Security-Policy': PAGE_POLICY });
};
