import { type ParsedUrlQuery, parse } from 'node:querystring';

/** More parameters than any route has. A query with so many has an unknown or a repeated one, and is refused. */
const MAX_PARAMETERS = 16;

/**
 * The first parameters of a query, without empty ones; `null` for a query that is not UTF-8. A repeated parameter becomes an array, which no
 * schema accepts. Koa's parser would take time quadratic in the length.
 */
export const readQuery = (target: string): ParsedUrlQuery | null => {
  if (!target.includes('?')) return {};
  const [, query = ''] = /\?(.*)/s.exec(target) ?? [];
  if (!isPercentEncoded(query)) return null;
  const pairs: string[] = [];
  for (const [pair] of query.matchAll(/[^&]+/g)) {
    pairs.push(pair);
    if (pairs.length === MAX_PARAMETERS) break;
  }
  return parse(pairs.join('&'));
};

const isPercentEncoded = (query: string): boolean => {
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
};
