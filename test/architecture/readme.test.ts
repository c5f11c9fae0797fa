import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ADVICE, STATUS_ADVICE } from '../../src/adapters/http/pages/advice.ts';
import { FALLBACK } from '../../src/adapters/http/stages/dispatch.ts';
import { FIELD_CODES } from '../../src/domain/errors/app-error.ts';
import { CATALOG, type ErrorCode } from '../../src/domain/errors/catalog.ts';
import { CONFIG_VARIABLES } from '../../src/infrastructure/config.ts';
import { ROOT, readText, tableBelow } from '../support/checkout/repository.ts';
import { declaredRoutes } from '../support/http/service.ts';

const readme = readText('README.md');
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT });
const plain = (text: string) => text.replaceAll('`', '');

const routeRows = async () =>
  (await declaredRoutes()).map(({ method, path, auth, throttle, response }) => [
    method,
    path,
    auth,
    throttle,
    String(response.status),
  ]);

const errorRows = Object.entries(CATALOG)
  .map(([code, { status, retryable, description }]) => [
    code,
    String(status),
    retryable ? 'yes' : 'no',
    plain(description),
  ])
  .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));

const variableRows = CONFIG_VARIABLES.map(({ name, default: byDefault, meaning }) => [
  name,
  plain(byDefault),
  plain(meaning),
]);

describe('the README', () => {
  it('has the two start commands on its first screen', () => {
    const [, ...blocks] = readme.split('\n').slice(0, 40).join('\n').split('```sh\n');
    expect(blocks.map((block) => block.split('\n')[0])).toEqual(['npm ci && npm start', 'npm ci && npm test']);
  });

  it('mentions only existing commands', () => {
    const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(readText('package.json'));
    const named = [...readme.matchAll(/npm (?:run )?([a-z:]+)/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(0);
    const others = ['ci', 'and', 'scripts', 'pack', 'install'];
    for (const name of named.filter((name) => !others.includes(name))) expect(Object.keys(scripts)).toContain(name);
  });
});

describe('the reference', () => {
  // Proves: gap-10, guard-1, slow-9, asvs-6.3.4, asvs-8.1.1
  it('lists the routes in docs/api.md as they are declared', async () => {
    expect(tableBelow(readText('docs/api.md'), 'Routes')).toEqual(await routeRows());
  });

  it('lists the errors of the catalog in docs/errors.md, with advice for each', () => {
    const page = readText('docs/errors.md');
    expect(tableBelow(page, 'Codes')).toEqual(errorRows);
    expect(tableBelow(page, 'What to do')).toEqual(errorRows.map(([code]) => [code, plain(ADVICE[code as ErrorCode])]));
  });

  it('lists the statuses of SYS_HTTP_UNEXPECTED_ERROR in docs/errors.md as on its page', () => {
    const rows = STATUS_ADVICE.map(({ status, cause, advice }) => [String(status), plain(cause), plain(advice)]);
    expect(tableBelow(readText('docs/errors.md'), 'Statuses of SYS_HTTP_UNEXPECTED_ERROR')).toEqual(rows);
  });

  it('has advice for every status of SYS_HTTP_UNEXPECTED_ERROR', async () => {
    const statuses = [FALLBACK, ...(await declaredRoutes())].flatMap(({ httpStatuses }) => [...httpStatuses]);
    expect(STATUS_ADVICE.map(({ status }) => status)).toEqual([...new Set(statuses)].sort());
  });

  it('explains exactly the field codes in docs/errors.md, with the number that is in their messages', () => {
    const explained = tableBelow(readText('docs/errors.md'), 'Field codes').map(([code, number]) => [code, number]);
    expect(explained).toEqual(Object.entries(FIELD_CODES).map(([code, number]) => [code, number ?? '']));
  });

  it('lists the variables of the configuration in docs/configuration.md', () => {
    expect(tableBelow(readText('docs/configuration.md'), 'All variables')).toEqual(variableRows);
  });
});

/** The anchor that GitHub derives from a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
const anchorsOf = (page: string): string[] =>
  [...readText(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

describe.each(pages)('%s', (page) => {
  const links = [...readText(page).matchAll(/\]\((?!https:)([^)#]*)(?:#([^)]+))?\)/g)].map(
    ([, target = '', anchor]) => ({ path: target === '' ? page : join(dirname(page), target), anchor }),
  );

  it('links to files and headings that exist', () => {
    for (const { path, anchor } of links) {
      expect(readText(path)).not.toBe('');
      if (anchor !== undefined) expect(anchorsOf(path)).toContain(anchor);
    }
  });
});
