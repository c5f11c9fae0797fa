import { type ParsedUrlQuery, parse } from 'node:querystring';

/** More parameters than any route has: a query with so many has an unknown or a repeated one, and is refused. */
const MAX_PARAMETERS = 16;

/**
 * The first parameters of the query of a request target, without empty ones. A repeated one is an array, which no schema
 * accepts. Koa's own parser takes time quadratic in the length.
 */
export const parseQuery = (target: string): ParsedUrlQuery => {
  if (!target.includes('?')) return {};
  const [, query = ''] = /\?(.*)/s.exec(target) ?? [];
  const pairs: string[] = [];
  for (const [pair] of query.matchAll(/[^&]+/g)) {
    pairs.push(pair);
    if (pairs.length === MAX_PARAMETERS) break;
  }
  return parse(pairs.join('&'));
};
