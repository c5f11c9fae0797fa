// Proves SPEC 11.10, 17.1, 24.9; ASVS 6.3.4, 8.1.1
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ADVICE, STATUS_ADVICE } from '../../src/adapters/http/pages/advice.ts';
import { FALLBACK } from '../../src/adapters/http/stages/dispatch.ts';
import { FIELD_CODES } from '../../src/domain/errors/app-error.ts';
import { CATALOG, type ErrorCode } from '../../src/domain/errors/catalog.ts';
import { WEBHOOK_TYPES } from '../../src/domain/webhook.ts';
import { alertRules } from '../support/checkout/observed.ts';
import { flowDrawing } from '../support/checkout/page-flow.ts';
import { ROOT, readText, tableBelow } from '../support/checkout/repository.ts';
import { routesTable } from '../support/checkout/routes.ts';
import { CONFIG_VARIABLES } from '../support/checkout/variables.ts';
import { waysTable } from '../support/checkout/ways-in.ts';
import { declaredRoutes } from '../support/http/service.ts';

const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT });
const plain = (text: string) => text.replaceAll('`', '');
const byFirst = (rows: readonly string[][]) => rows.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));

describe('docs/api.md', () => {
  const page = readText('docs/api.md');

  it('lists the routes as they are declared, with their codes', async () => {
    expect(page).toContain(await routesTable(page));
  });

  it('describes no other route', async () => {
    const declared = (await declaredRoutes()).map(({ method, path }) => `${method} ${path}`);
    const described = [...page.matchAll(/^### ([A-Z]+ \/.*)$/gm)].map(([, title]) => title);
    expect(described.length).toBeGreaterThan(30);
    expect(declared).toEqual(expect.arrayContaining(described));
  });
});

describe('docs/security.md', () => {
  it('has the table of ways in and acts', () => {
    expect(readText('docs/security.md')).toContain(waysTable());
  });
});

describe('docs/errors.md', () => {
  const page = readText('docs/errors.md');

  it('lists the catalog, with advice for each code', () => {
    const rows = Object.entries(CATALOG).map(([code, { status, retryable, description }]) => [
      ...[code, `${status}`, retryable ? 'yes' : 'no'],
      plain(description),
    ]);
    expect(tableBelow(page, 'Codes')).toEqual(byFirst(rows));
    const advice = Object.keys(CATALOG).map((code) => [code, plain(ADVICE[code as ErrorCode])]);
    expect(tableBelow(page, 'What to do')).toEqual(byFirst(advice));
  });

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

it('docs/webhooks.md lists the types, with the kinds of their events', () => {
  const listed = tableBelow(readText('docs/webhooks.md'), 'Types').map(([type, kinds]) => [type, kinds]);
  expect(listed).toEqual([...WEBHOOK_TYPES].map(([type, kinds]) => [type, kinds.join(', ')]));
});

it('docs/mail-and-pages.md draws the flow of the pages', () => {
  expect(readText('docs/mail-and-pages.md')).toContain(flowDrawing());
});

it('docs/observe.md lists the alerts', () => {
  const listed = tableBelow(readText('docs/observe.md'), 'Alerts').map(([alert]) => alert);
  expect(listed).toEqual(alertRules().map(({ alert }) => alert));
});

/** The anchor that GitHub derives from a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
const anchorsOf = (page: string): string[] =>
  [...readText(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

it.each(pages)('%s links to files and headings that exist', (page) => {
  for (const [, target = '', anchor] of readText(page).matchAll(/\]\((?!https:)([^)#]*)(?:#([^)]+))?\)/g)) {
    const path = target === '' ? page : join(dirname(page), target);
    expect(readText(path)).not.toBe('');
    if (anchor !== undefined) expect(anchorsOf(path)).toContain(anchor);
  }
});
