// Proves SPEC 11.10, 17.1, 24.9; ASVS 6.3.4, 8.1.1
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { templateOf } from '../../src/adapters/http/openapi/document.ts';
import { STATUS_ADVICE } from '../../src/adapters/http/pages/advice.ts';
import { FALLBACK } from '../../src/adapters/http/stages/dispatch.ts';
import { FIELD_CODES } from '../../src/domain/errors/app-error.ts';
import { CATALOG, type ErrorCode } from '../../src/domain/errors/catalog.ts';
import { typesList, withTypes } from '../support/checkout/events.ts';
import { alertRules } from '../support/checkout/observed.ts';
import { flowDrawing } from '../support/checkout/page-flow.ts';
import { anchorOf, ROOT, readText, tableBelow } from '../support/checkout/repository.ts';
import { CONFIG_VARIABLES } from '../support/checkout/variables.ts';
import { waysTable } from '../support/checkout/ways-in.ts';
import { declaredRoutes } from '../support/http/service.ts';
import { currentRoutes } from '../support/openapi/current-document.ts';

const pages = globSync(['*.md', '{docs,bench,client}/**/*.md', 'examples/*/README.md'], {
  cwd: ROOT,
  exclude: ['**/node_modules/**'],
});
const plain = (text: string) => text.replaceAll('`', '');

it('docs/api.md describes no route that is not declared', async () => {
  const declared = (await declaredRoutes()).map(({ method, path }) => `${method} ${path}`);
  const described = [...readText('docs/api.md').matchAll(/^### ([A-Z]+ \/.*)$/gm)].map(([, title]) => title);
  expect(described.length).toBeGreaterThan(5);
  expect(declared).toEqual(expect.arrayContaining(described));
});

it('docs/openapi.json names the strategy and the tier of each route', async () => {
  const { paths } = JSON.parse(readText('docs/openapi.json'));
  const hasToken = (alternative: object) => 'accessToken' in alternative;
  for (const route of await currentRoutes()) {
    const { security, 'x-rate-limit': tier } = paths[templateOf(route)][route.method.toLowerCase()];
    const [some, every] = [security.some(hasToken), security.length > 0 && security.every(hasToken)];
    const strategy = every ? 'required' : some ? 'optional' : 'public';
    expect([route.path, strategy, tier]).toEqual([route.path, route.auth, route.throttle]);
  }
});

it('docs/security.md has the table of ways in and acts', () => {
  expect(readText('docs/security.md')).toContain(waysTable());
});

describe('docs/errors.md', () => {
  const page = readText('docs/errors.md');

  it('lists the statuses of SYS_HTTP_UNEXPECTED_ERROR, which are those of the routes', async () => {
    const rows = STATUS_ADVICE.map(({ status, cause, advice }) => [`${status}`, plain(cause), plain(advice)]);
    expect(tableBelow(page, 'Statuses of SYS_HTTP_UNEXPECTED_ERROR')).toEqual(rows);
    const declared = [FALLBACK, ...(await declaredRoutes())].flatMap(({ httpStatuses }) => [...httpStatuses]);
    expect(STATUS_ADVICE.map(({ status }) => status)).toEqual([...new Set(declared)].sort());
  });

  it('lists the codes of fields, with the numbers in their messages', () => {
    const listed = tableBelow(page, 'Field codes').map(([code, number]) => [code, number]);
    expect(listed).toEqual(Object.entries(FIELD_CODES).map(([code, number]) => [code, number ?? '']));
  });
});

it('docs/specification.md lists the codes of the catalog with their statuses, but for those beyond it', () => {
  const rows = tableBelow(readText('docs/specification.md'), 'Catalog').map(([code, status]) => [code, Number(status)]);
  expect(rows.length).toBeGreaterThan(10);
  for (const [code, status] of rows) expect(CATALOG[code as ErrorCode]).toMatchObject({ status });
});

it('docs/configuration.md lists the variables', () => {
  const rows = CONFIG_VARIABLES.map(({ name, default: byDefault, meaning }) => [
    name,
    plain(byDefault),
    plain(meaning),
  ]);
  expect(tableBelow(readText('docs/configuration.md'), 'All variables')).toEqual(rows);
});

it('docs/webhooks.md lists the types', () => {
  const page = readText('docs/webhooks.md');
  expect(page).toContain(typesList());
  expect(withTypes(page)).toBe(page);
});

it('docs/mail-and-pages.md draws the flow of the pages', () => {
  expect(readText('docs/mail-and-pages.md')).toContain(flowDrawing());
});

it('docs/observe.md lists the alerts', () => {
  const listed = tableBelow(readText('docs/observe.md'), 'Alerts').map(([alert]) => alert);
  expect(listed).toEqual(alertRules().map(({ alert }) => alert));
});

const anchorsOf = (page: string): string[] =>
  [...readText(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

it.each(pages)('%s links to files and headings that exist', (page) => {
  for (const [, target = '', anchor] of readText(page).matchAll(
    /\]\((?!https:)((?:[^()#]|\([^()]*\))*)(?:#([^)]+))?\)/g,
  )) {
    const path = target === '' ? page : join(dirname(page), target);
    expect(existsSync(join(ROOT, path)), target).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(path)).toContain(anchor);
  }
});
