/** `npm run site`: renders the documentation as a site, in `site/dist`. With `SITE_BASE=/1.0.0/`, below that path. */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vitepress';
import { groups } from './groups.ts';
import { catalogSections, referencePages } from './reference.ts';

const SITE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(SITE, '..');
const OPENAPI = 'docs/openapi.json';
const REPOSITORY = 'https://github.com/tandem/tandem/blob/main';
const PAGES = globSync(['*.md', 'docs/**/*.md', 'bench/*.md', 'client/*.md', 'examples/*/README.md'], { cwd: ROOT });
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const asIndex = (path: string) => path.replace(/README\.md$/, 'index.md');

/** Links to pages stay, those to the OpenAPI document lead to the reference, those to other files into the repository. */
const withLinks = (page: string, text: string) =>
  text.replaceAll(
    /\]\((?![a-z]+:|#)((?:[^()#\s]|\([^()\s]*\))+)(#[^)\s]+)?\)/g,
    (_all, target: string, anchor = '') => {
      const path = join(dirname(page), target).replace(/\/$/, '');
      if (!existsSync(join(ROOT, path))) throw new Error(`${page} links to ${target}, which does not exist`);
      if (path === OPENAPI) return `](${relative(dirname(page), 'reference/tokens.md')})`;
      const isShown = PAGES.includes(path) || path.endsWith('.webp');
      return isShown ? `](${asIndex(target)}${anchor})` : `](${REPOSITORY}/${path})`;
    },
  );

const write = (path: string, text: string) => {
  mkdirSync(dirname(join(SITE, 'pages', path)), { recursive: true });
  writeFileSync(join(SITE, 'pages', path), text);
};

rmSync(join(SITE, 'pages'), { recursive: true, force: true });
const COMPILED_WITH = /^<!-- compiled with\n[\s\S]*?^-->\n/gm;
for (const page of PAGES) {
  write(
    asIndex(page),
    withLinks(page, read(page).replaceAll(COMPILED_WITH, '').replace('<!-- catalog -->', catalogSections)),
  );
}
for (const [tag, text] of referencePages(JSON.parse(read(OPENAPI)))) write(`reference/${tag}.md`, text);
cpSync(join(ROOT, 'docs/images'), join(SITE, 'pages/docs/images'), { recursive: true });
const links = groups().map(
  ({ text, items }) => `## ${text}\n\n${items.map((each) => `- [${each.text}](${each.link}.md)`).join('\n')}\n`,
);
write('public/llms.txt', `# Tandem\n\n> ${read('README.md').split('\n\n')[1]}\n\n${links.join('\n')}`);
write('public/openapi.json', read(OPENAPI));
await build(SITE);
cpSync(join(SITE, 'pages'), join(SITE, 'dist'), {
  recursive: true,
  filter: (path) => !/\.(?:webp|txt|json)$|public/.test(path),
});
