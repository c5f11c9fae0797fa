import type { TextTree } from './user-pages.ts';

const isTree = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * What is wrong with the texts of a language, a line each, which begins with the place.
 * @param builtIn those of the service, whose names and placeholders count
 */
export const textProblems = (given: unknown, builtIn: TextTree, place = ''): string[] => {
  if (!isTree(given)) return [`${place || 'the file'}: expected an object`];
  return Object.entries(given).flatMap(([name, value]) => {
    const path = place === '' ? name : `${place}.${name}`;
    const model = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
    if (model === undefined) return [`${path}: there is no text of this name`];
    if (typeof model !== 'string') return textProblems(value, model, path);
    if (path === 'direction') return value === 'ltr' || value === 'rtl' ? [] : ['direction: expected ltr or rtl'];
    return (typeof value === 'string' ? problemsOfText(value, model) : ['expected a text']).map(
      (problem) => `${path}: ${problem}`,
    );
  });
};

const placeholdersIn = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g))].sort();

const problemsOfText = (text: string, model: string): string[] => {
  const [own, needed] = [placeholdersIn(text), placeholdersIn(model)];
  return [
    ...(text.trim() === '' && model !== '' ? ['the text is empty'] : []),
    ...(/<[a-z/!]|&#?\w+;/i.test(text) ? ['a text has no markup: it is shown as it is'] : []),
    ...needed.filter((each) => !own.includes(each)).map((each) => `${each} is missing`),
    ...own.filter((each) => !needed.includes(each)).map((each) => `${each} is unknown here`),
  ];
};
