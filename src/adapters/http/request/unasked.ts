import type { Context } from 'koa';

/** How browsers say that they load something in advance: the Fetch Standard's header, and those of older browsers. */
const HEADERS = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz'];
const IN_ADVANCE = /prefetch|prerender|preview/i;

/** Whether nobody has asked for what a request would do: it is sent in advance, or only asks what a GET would answer. */
export const isUnasked = (ctx: Context): boolean =>
  ctx.method === 'HEAD' || HEADERS.some((name) => IN_ADVANCE.test(ctx.get(name)));
