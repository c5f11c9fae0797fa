/** `npm run site`: renders the documentation as a site, in `site/dist`. `npm run site -- /1.0.0/` makes one for that path of a host. */
import { cpSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'vitepress';
import { ROOT, readText } from '../test/support/checkout/repository.ts';
import { groups } from './.vitepress/config.ts';
import { catalogSections, referencePages } from './reference.ts';

const OUTPUT = join(import.meta.dirname, 'pages');
const BASE = process.argv[2] ?? '/';
const REPOSITORY = 'https://github.com/tandem/tandem/blob/main';
const PAGES = globSync(['*.md', 'docs/**/*.md', 'bench/*.md', 'client/*.md', 'examples/*/README.md'], { cwd: ROOT });
const COMPILED_WITH = /^<!-- compiled with\n[\s\S]*?^-->\n/gm;
const LINK = /\]\((?![a-z]+:|#)((?:[^()#\s]|\([^()\s]*\))+)(#[^)\s]+)?\)/g;

const asIndex = (path: string) => path.replace(/README\.md$/, 'index.md');
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(OUTPUT, path)), { recursive: true });
  writeFileSync(join(OUTPUT, path), text);
};

rmSync(OUTPUT, { recursive: true, force: true });
for (const page of PAGES) {
  const text = readText(page).replaceAll(COMPILED_WITH, '').replace('<!-- catalog -->', catalogSections);
  // Links to pages stay, those to the OpenAPI document lead to the reference, and those to other files into the repository.
  const linked = text.replaceAll(LINK, (_all, target: string, anchor = '') => {
    const path = join(dirname(page), target).replace(/\/$/, '');
    if (path === 'docs/openapi.json') return `](${relative(dirname(page), 'reference/tokens.md')})`;
    const isShown = PAGES.includes(path) || path.endsWith('.webp');
    return isShown ? `](${asIndex(target)}${anchor})` : `](${REPOSITORY}/${path})`;
  });
  write(asIndex(page), linked);
}
for (const [tag, text] of referencePages) write(`reference/${tag}.md`, text);
cpSync(join(ROOT, 'docs/images'), join(OUTPUT, 'docs/images'), { recursive: true });
write('public/openapi.json', readText('docs/openapi.json'));
// Each release has a site of its own beside the one of the latest state. Their addresses are outside of the base of this one.
const released = Array.from(readText('CHANGELOG.md').matchAll(/^## (\d\S*)/gm), ([, version]) => version);
const versions = ['', ...released].map(
  (version) => `- [${version || 'Latest'}](${relative(BASE, `/${version}`) || '.'}/){target="_self"}`,
);
write('versions.md', `# Versions\n\n${versions.join('\n')}\n\n[What is new](CHANGELOG.md)\n`);
const entry = ({ text = '', link = '' }) =>
  `- [${text}](${BASE}${link.slice(1).replace(/#.*/, '').replace(/\/$/, '/index')}.md)`;
const lists = groups.flatMap(({ text, items }) => [`\n## ${text}\n`, ...items.map(entry)]);
write('public/llms.txt', `# Tandem\n\n> A dual-token authentication service.\n${lists.join('\n')}\n`);
await build(import.meta.dirname, { base: BASE });
cpSync(OUTPUT, join(import.meta.dirname, 'dist'), {
  recursive: true,
  filter: (path) => !/\.webp$|\bpublic\b/.test(path),
});
