import type { Context } from 'koa';

/** Browsers send less than 200 characters; the library takes milliseconds for the longest header that Node accepts. */
const ACCEPT_MAX_LENGTH = 1_000;

/** Whether the client prefers HTML to JSON (RFC 9110 §12.5.1). One that accepts neither, or anything, gets JSON. */
export const prefersHtml = (ctx: Context): boolean =>
  ctx.get('Accept').length <= ACCEPT_MAX_LENGTH && ctx.accepts('json', 'html') === 'html';
