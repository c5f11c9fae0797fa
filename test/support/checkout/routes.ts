import { CATALOG, type ErrorCode } from '../../../src/domain/errors/catalog.ts';
import { currentRoutes } from '../openapi/current-document.ts';
import { tableBelow } from './repository.ts';

const HEAD = '| Method | Path | Authentication | Rate limit | Status | Codes |\n|---|---|---|---|---|---|\n';

/** The table of routes in `docs/api.md`, with the codes of each but those that every route can return. */
export const routesTable = async (page: string): Promise<string> => {
  const ofEveryRoute = new Set(tableBelow(page, 'Errors that every route can return').map(([code]) => code));
  const rows = (await currentRoutes()).map(({ method, path, auth, throttle, response, errors }) => {
    const own = [...errors].filter((code) => !ofEveryRoute.has(code)).sort(byStatus);
    const codes = own.map((code) => `\`${code}\``).join(', ');
    return `| ${method} | \`${path}\` | \`${auth}\` | \`${throttle}\` | ${response.status} | ${codes} |\n`;
  });
  return HEAD + rows.join('');
};

const byStatus = (one: ErrorCode, other: ErrorCode): number =>
  CATALOG[one].status - CATALOG[other].status || one.localeCompare(other);

/** The page `docs/api.md`, with that table. */
export const withRoutes = async (page: string): Promise<string> => {
  const table = await routesTable(page);
  return page.replace(/\| Method \| Path \|.*\n(?:\|.*\n)+/, () => table);
};
