import { canonicalLocale, fallbacksOf } from '../../../domain/locale.ts';
import { PAGES } from '../forms/flow.ts';
import { templateProblems } from './check-templates.ts';
import { textProblems } from './check-texts.ts';
import { OTHER_LINKS, type TextTree } from './user-pages.ts';

const LINKS = [...Object.keys(PAGES), ...OTHER_LINKS].map((name) => `link.${name}`);

type Files = ReadonlyMap<string, string>;

/**
 * What is wrong with files of templates and texts, a line each, which begins with the file. Templates have variables and no logic, so that this
 * finds every mistake before somebody sees the page.
 * @param builtIn the files of the service
 */
export const pageProblems = (files: Files, builtIn: Files): string[] =>
  [...files].flatMap(([name, text]) => {
    const isOfTexts = name.endsWith('.json');
    const problems = isOfTexts ? problemsOfTexts(name, text, files, builtIn) : problemsOfTemplate(name, text, builtIn);
    return problems.map((problem) => `${name}: ${problem}`);
  });

const englishOf = (builtIn: Files): TextTree => JSON.parse(builtIn.get('en.json') ?? '{}');

const problemsOfTemplate = (name: string, text: string, builtIn: Files): string[] => {
  const own = builtIn.get(name);
  if (own === undefined) return ['there is no page of this name: npx tandem pages eject DIR writes all'];
  const { pages, common } = englishOf(builtIn) as { readonly pages: TextTree; readonly common: TextTree };
  const page = name.replace(/\.html$/, '');
  // The layout and pages without forms of their own have no others.
  if (!(page in PAGES)) return templateProblems(text, own, []);
  const texts = Object.keys({ ...common, ...Object(pages[page]) }).map((each) => `text.${each}`);
  return templateProblems(text, own, ['title', ...texts, ...LINKS]);
};

const problemsOfTexts = (name: string, text: string, files: Files, builtIn: Files): string[] => {
  const locale = name.replace(/\.json$/, '');
  if (canonicalLocale(locale) !== locale) return ['expected the name of a language, such as de.json or de-AT.json'];
  const texts = parsed(text);
  if (texts instanceof Error) return [`it is no JSON: ${texts.message}`];
  const others = fallbacksOf(null, locale).map((each) => `${each}.json`);
  const isNew = others.every((each) => !builtIn.has(each) && (each === name || !files.has(each)));
  return [
    ...textProblems(texts, englishOf(builtIn)),
    ...(isNew && !Object.hasOwn(Object(texts), 'direction')
      ? ['direction is missing: ltr or rtl, since this language is not built in']
      : []),
  ];
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
};
