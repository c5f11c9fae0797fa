import { hash, timingSafeEqual } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { headerValues } from '../stages/cookie-parsing.ts';
import type { PageServer } from './settings.ts';

/** RFC 7617 §2. */
const BASIC = /^Basic +([A-Za-z0-9+/]{1,400}={0,2}) *$/i;

const VISITOR_ADDRESS = 'X-Visitor-Address';

/** Whether a request has the id and the secret of a page server. Takes the same time for every secret. Refuses several headers, as the guard. */
const isPageServer = (ctx: Context, known: readonly PageServer[]): boolean => {
  const [, encoded = ''] = BASIC.exec(headerValues(ctx.req, 'authorization').join(', ')) ?? [];
  const [, id, secret = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  const presented = hash('sha256', secret, 'buffer');
  return known.some((server) => server.id === id && timingSafeEqual(server.secretHash, presented));
};

/**
 * Recognises a page server before requests are counted: it says for which visitor it asks, so that all its visitors do not share one limit.
 * Anybody else is counted by their own address.
 */
export const recognisePageServer = (known: readonly PageServer[]): Middleware =>
  function recognisePageServer(ctx, next) {
    if (isPageServer(ctx, known)) ctx.state.pageServer = { visitor: ctx.get(VISITOR_ADDRESS) };
    return next();
  };
