import type { Context } from 'koa';

/** How browsers say that they load something in advance: the Fetch Standard's header, and those of older browsers. */
const HEADERS = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz'];
const IN_ADVANCE = /prefetch|prerender|preview/i;

/** What people and scripts ask for (Fetch §3.1.7): a navigation of a whole page, and `fetch`. The others are of what a page embeds. */
const ASKED = ['', 'document', 'empty'];

/**
 * Whether nobody has asked for what a request would do: it is sent in advance, only asks what a GET would answer, or is of an image, a frame
 * or the like, which anybody can cause who may post a picture on a page of the site.
 */
export const isUnasked = (ctx: Context): boolean =>
  ctx.method === 'HEAD' ||
  !ASKED.includes(ctx.get('Sec-Fetch-Dest').toLowerCase()) ||
  HEADERS.some((name) => IN_ADVANCE.test(ctx.get(name)));
