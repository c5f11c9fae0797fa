import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { defineConfig } from 'vitepress';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const pages = join(import.meta.dirname, '../pages');

/** What the sidebar and `llms.txt` have: the lists of `docs/README.md`, one for each reader, and the reference. */
export const groups = () => [
  ...readFileSync(join(pages, 'docs/index.md'), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.split('\n')[0] ?? '',
      items: [...section.matchAll(/\[([^\]]+)\]\(([^)#]+)\.md\)/g)].map(([, text = '', target = '']) => ({
        text: text.charAt(0).toUpperCase() + text.slice(1),
        link: join('/docs', target).replace(/\/index$/, '/'),
      })),
    })),
  {
    text: 'Routes',
    items: globSync('reference/*.md', { cwd: pages })
      .toSorted()
      .map((path) => ({ text: basename(path, '.md'), link: `/${path.slice(0, -3)}` })),
  },
];

/** As GitHub derives anchors from headings. */
const slugify = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

export default defineConfig({
  title: 'Tandem',
  description: 'A dual-token authentication service',
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    html: false,
    anchor: { slugify },
    // Placeholders of templates are no expressions of Vue.
    config: (md) =>
      md.core.ruler.push('verbatim', ({ tokens }) => {
        const inline = tokens.flatMap(({ children }) => children ?? []);
        for (const token of inline) if (token.type === 'code_inline') token.attrSet('v-pre', '');
      }),
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: 'deep',
    nav: [
      { text: 'Start', link: '/docs/start' },
      { text: 'Documentation', link: '/docs/' },
      { text: 'Reference', link: '/reference/tokens' },
      { text: version, link: '/CHANGELOG' },
    ],
    sidebar: groups(),
  },
});
