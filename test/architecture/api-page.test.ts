import { describe, expect, it } from 'vitest';
import { CATALOG } from '../../src/domain/errors/catalog.ts';
import { readText, tableBelow } from '../support/checkout/repository.ts';
import { declaredRoutes } from '../support/http/service.ts';

const page = readText('docs/api.md');
const OF_EVERY_ROUTE = new Set(tableBelow(page, 'Errors that every route can return').map(([code]) => code));

/** The text below the heading of a route. */
const sectionOf = (route: string): string => {
  const [, section] = page.split(`\n### ${route}\n`);
  if (section === undefined) throw new Error(`there is no section ${route}`);
  return section.split(/\n##+ /)[0] ?? '';
};

/** Codes and statuses in the table of a section. */
const codesIn = (section: string): string[][] =>
  [...section.matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \|/gm)].map(([, code = '', status = '']) => [code, status]);

describe('docs/api.md', async () => {
  const routes = (await declaredRoutes()).map((route) => ({ ...route, title: `${route.method} ${route.path}` }));

  it('has a section for every route, and no other', () => {
    const titles = [...page.matchAll(/^### ([A-Z]+ \/.*)$/gm)].map(([, title]) => title);
    expect(titles.sort()).toEqual(routes.map(({ title }) => title).sort());
  });

  it.each(routes)('states authentication, tier and status of $title', ({ title, auth, throttle, response }) => {
    const line = `Authentication \`${auth}\`, rate limit \`${throttle}\`, status ${response.status}.`;
    expect(sectionOf(title).replaceAll('\n', ' ')).toContain(line);
  });

  it.each(routes)('lists the codes of $title', ({ title, errors }) => {
    const own = [...errors].filter((code) => !OF_EVERY_ROUTE.has(code));
    const rows = own.map((code) => [code, String(CATALOG[code].status)]);
    expect(codesIn(sectionOf(title)).sort()).toEqual(rows.sort());
  });

  it('lists only known codes for every route', () => {
    for (const code of OF_EVERY_ROUTE) expect(Object.keys(CATALOG)).toContain(code);
  });
});
