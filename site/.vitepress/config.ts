import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { groups } from '../groups.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

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
  base: (process.env.SITE_BASE ?? '/') as '/',
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
