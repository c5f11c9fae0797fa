import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, readText } from '../support/checkout/repository.ts';

const SECTIONS = ['Status', 'Context', 'Decision', 'Alternatives', 'Consequences'];
const records = globSync('docs/adr/[0-9]*.md', { cwd: ROOT }).sort();
const index = readText('docs/adr/README.md');

describe.each(records)('%s', (path) => {
  const text = readText(path);
  const file = basename(path);
  const [, number, title] = /^# (\d{4})\. (.+)\n\nDate: \d{4}-\d\d-\d\d\n\n/.exec(text) ?? [];

  it('has its number, its title and its date', () => {
    expect(number).toBe(file.slice(0, 4));
  });

  it('has its sections in order', () => {
    expect(
      [...text.matchAll(/^## (.+)$/gm)].map(([, name]) => name).filter((name) => SECTIONS.includes(`${name}`)),
    ).toEqual(SECTIONS);
  });

  it('is in the index, with its title', () => {
    expect(index).toContain(`| [${number}](${file}) | ${title} |`);
  });
});

describe('docs/adr/README.md', () => {
  it('lists every record once, and no other', () => {
    const listed = [...index.matchAll(/^\| \[\d{4}\]\(([^)]+)\)/gm)].map(([, file]) => `docs/adr/${file}`);
    expect(listed).toEqual(records);
  });
});
