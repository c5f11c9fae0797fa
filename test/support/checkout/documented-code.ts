import { readText } from './repository.ts';

/** The blocks of code in a language below a heading of a page, up to the next heading. */
export const codeBelow = (page: string, heading: string, language: string): string[] => {
  const [, below = ''] = readText(page).split(new RegExp(`^#+ ${heading}\n`, 'm'));
  const [section = ''] = below.split(/^#+ /m);
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );
};
