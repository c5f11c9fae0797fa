import type { Context, Middleware } from 'koa';
import helmet from 'koa-helmet';

/** An API's answers are never a page: nothing may load from them or frame them. */
const setHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] },
  },
  frameguard: { action: 'deny' },
});

/** Stage 1. */
export const securityHeaders = (): Middleware =>
  async function securityHeaders(ctx, next) {
    await setHeaders(ctx, next);
  };

/** The same headers, for an answer that no stage writes. */
export const securityHeaderFields = async (): Promise<readonly (readonly [name: string, value: string])[]> => {
  const fields: (readonly [string, string])[] = [];
  const res = {
    setHeader: (name: string, value: string) => fields.push([name, value]),
    removeHeader: () => undefined,
  };
  await setHeaders({ req: {}, res } as unknown as Context, async () => undefined);
  return fields;
};
