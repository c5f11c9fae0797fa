import { type ParsedUrlQuery, parse } from 'node:querystring';

/** More than any route has parameters: of so many at least one is unknown or repeated, and the query is refused for it. */
const MAX_PARAMETERS = 16;

/**
 * The first parameters behind the `?` of a request target; the value of a repeated one is an array, which no schema takes.
 * Empty ones don't count. What Koa makes of a query takes a time that grows with the square of its length.
 */
export const parseQuery = (target: string): ParsedUrlQuery => {
  const [, query = ''] = /\?(.*)/s.exec(target) ?? [];
  const pairs: string[] = [];
  for (const [pair] of query.matchAll(/[^&]+/g)) {
    pairs.push(pair);
    if (pairs.length === MAX_PARAMETERS) break;
  }
  return parse(pairs.join('&'));
};
