import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';

const pages = join(import.meta.dirname, 'pages');

type Item = { text: string; link: string };

/** The groups of `docs/README.md`, one for each reader, and the reference: what the sidebar has, and `llms.txt`. */
export const groups = (): { text: string; items: Item[] }[] => {
  const index = readFileSync(join(pages, 'docs/index.md'), 'utf8');
  const listed = index
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.split('\n')[0] ?? '',
      items: [...section.matchAll(/\[([^\]]+)\]\(([^)#]+)\.md\)/g)].map(([, text = '', target = '']) => ({
        text: text.charAt(0).toUpperCase() + text.slice(1),
        link: `/${normalize(join('docs', target)).replace(/(^|\/)index$/, '$1')}`,
      })),
    }));
  const reference = globSync('reference/*.md', { cwd: pages }).map((path) => basename(path, '.md'));
  return [
    ...listed,
    { text: 'Reference', items: reference.map((name) => ({ text: name, link: `/reference/${name}` })) },
  ];
};
