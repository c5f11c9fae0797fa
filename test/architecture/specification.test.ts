import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CATALOG } from '../../src/domain/errors/catalog.ts';
import { ROOT, readText, tableBelow } from '../support/checkout/repository.ts';

const page = readText('docs/specification.md');
const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
const files = globSync(['src/**/*.ts', 'test/**/*.ts', 'docs/adr/*.md'], { cwd: ROOT });

/** Sections that a text cites: `SPEC "Catalog"`, `SPEC "Catalog", "Errors"`, or `SPEC, Catalog: …` in a decision record. */
const citedIn = (text: string): string[] => [
  ...[...text.matchAll(/SPEC ("[^"]+"(?:, "[^"]+")*)/g)].flatMap(([, names = '']) => names.slice(1, -1).split('", "')),
  ...[...text.matchAll(/SPEC, ([A-Z][^:,"`.]+)[:,]/g)].map(([, name = '']) => name),
];
const hasSection = (name: string): boolean => headings.some((heading) => heading.startsWith(name.replace(/\s+/g, ' ')));

/** The codes of what the service does beyond the specification: links in emails, disabled accounts, keys of devices, step-up. */
const BEYOND: ReadonlySet<string> = new Set([
  ...['AUTH_ACCOUNT_DISABLED', 'AUTH_DEVICE_UNPROVEN', 'AUTH_EMAIL_UNVERIFIED', 'AUTH_LINK_INVALID'],
  ...[
    'AUTH_PAGE_SERVER_UNKNOWN',
    'AUTH_PASSKEY_INVALID',
    'AUTH_PROOF_EXPIRED',
    'AUTH_SECOND_FACTOR_REQUIRED',
    'AUTH_STEP_UP_REQUIRED',
    'AUTH_SECOND_FACTOR_INVALID',
  ],
]);

describe('docs/specification.md', () => {
  it('has a section for every citation', () => {
    const cited = files.flatMap((file) => citedIn(readText(file)).map((name) => ({ file, name })));
    expect(cited.length).toBeGreaterThan(50);
    expect(cited.filter(({ name }) => !hasSection(name))).toEqual([]);
  });

  it.each([
    ['SPEC "Catalog".', ['Catalog']],
    ['SPEC "Key configuration", "Refresh cookie".', ['Key configuration', 'Refresh cookie']],
    ['SPEC, Limits: "Throttle tier"', ['Limits']],
    ['SPEC, Request processing, stage 3: "its value"', ['Request processing']],
    ['SPEC says', []],
  ])('finds the citations of: %s', (text, names) => {
    expect(citedIn(text)).toEqual(names);
  });

  it('is refused when a section is missing', () => {
    expect(hasSection('Planted')).toBe(false);
  });

  it('lists the codes and statuses of the catalog, but for those of what the specification does not have', () => {
    const rows = tableBelow(page, 'Catalog').map(([code, status]) => [code, Number(status)]);
    const specified = Object.entries(CATALOG).filter(([code]) => !BEYOND.has(code));
    expect(rows).toEqual(specified.map(([code, { status }]) => [code, status]));
  });
});
