import type { Context } from 'koa';
import * as v from 'valibot';
import { type Route, route, type Unwrapped } from './define-route.ts';

type Document = Pick<Route, 'name' | 'tag' | 'summary' | 'path'> & {
  readonly data: v.GenericSchema<string, string>;
  readonly unwrapped: Unwrapped;
  readonly request?: { readonly query: v.UnknownSchema };
  readonly errorPages?: Route['errorPages'];
};

/** A text of which the OpenAPI document shows the beginning. */
export const textLike = (example: string): Document['data'] => v.pipe(v.string(), v.examples([example]));

/** Declares a public text that is sent as it is. @param read with the ETag of a text that is kept. */
export const documentRoute = (
  { data, unwrapped, ...rest }: Document,
  read: (ctx: Context) => string | Promise<string | { readonly text: string; readonly etag: string }>,
): Route =>
  route(
    { ...rest, method: 'GET', auth: 'public', throttle: 'public', response: { data, unwrapped } },
    async (_input, ctx) => {
      const content = await read(ctx);
      if (typeof content === 'string') return content;
      ctx.etag = content.etag;
      return content.text;
    },
  );
