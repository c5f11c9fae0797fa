import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { anchorOf, readText } from '../../test/support/checkout/repository.ts';

const { version } = JSON.parse(readText('package.json'));
const { tags }: { tags: { name: string }[] } = JSON.parse(readText('docs/openapi.json'));
const icon = encodeURIComponent(readText('src/adapters/http/pages/icon.svg'));
// What stands behind a semicolon is beside the subject.
const [, ...sections] = readText('docs/README.md').replaceAll(/;.*/g, '').split(/^## /m);

/** What the sidebar and `llms.txt` have: the lists of `docs/README.md`, one for each reader, and the reference. */
export const groups = [
  ...sections.map((section) => ({
    text: section.split('\n')[0] ?? '',
    items: Array.from(section.matchAll(/\[([^\]]+)\]\(([^)]+\.md[^)]*)\)/g), ([, text = '', target = '']) => ({
      text,
      link: join('/docs', target.replace(/(README)?\.md/, '')),
    })),
  })),
  { text: 'Routes', items: tags.map(({ name }) => ({ text: name, link: `/reference/${name}` })) },
];

export default defineConfig({
  title: 'Tandem',
  description: 'A dual-token authentication service',
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${icon}` }]],
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    html: false,
    anchor: { slugify: anchorOf },
    // Placeholders of templates are no expressions of Vue.
    config: ({ renderer, utils }) => {
      renderer.rules.code_inline = (tokens, at) => `<code v-pre>${utils.escapeHtml(tokens[at]?.content ?? '')}</code>`;
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: 'deep',
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: 'Reference', link: '/reference/tokens' },
      { text: version, link: '/versions' },
    ],
    sidebar: groups,
  },
});
