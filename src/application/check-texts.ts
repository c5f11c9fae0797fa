import { BASE_LOCALE, canonicalLocale, fallbacksOf } from '../domain/text.ts';
import { isTree, PLACEHOLDER, type TextTree, textsIn, textsOver } from './templates.ts';

/** Checks a text, or a list of texts, of an operator. @param model the built-in text. @returns a line for each mistake */
type TextCheck = (text: unknown, model: string | readonly string[], path: string) => string[];

/** Checks the texts of a language. @returns a line for each mistake, which begins with the path of the text. */
export const textProblems = (texts: unknown, builtIn: TextTree, check: TextCheck = sameText, parent = ''): string[] => {
  if (!isTree(texts)) return [`${parent}: expected an object`];
  return Object.entries(texts).flatMap(([name, value]) => {
    const path = parent === '' ? name : `${parent}.${name}`;
    const model = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
    if (model === undefined) return [`${path}: there is no text of this name`];
    if (isTree(model)) return textProblems(value, model, check, path);
    if (path === 'direction') return value === 'ltr' || value === 'rtl' ? [] : ['direction: expected ltr or rtl'];
    return check(value, model, path).map((problem) => `${path}: ${problem}`);
  });
};

export const placeholdersIn = (text: string): string[] =>
  [...new Set([...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name))].sort();
export const placeholder = (name: string): string => `{${name}}`;

/** Accepts a plain text (`plainProblems`) with the same placeholders as the built-in text. */
export const sameText: TextCheck = (text, model) => {
  if (typeof text !== 'string' || typeof model !== 'string') return ['expected a text'];
  const [names, modelNames] = [placeholdersIn(text), placeholdersIn(model)];
  return [
    ...plainProblems(text, model),
    ...modelNames.filter((each) => !names.includes(each)).map((each) => `${placeholder(each)} is missing`),
    ...names.filter((each) => !modelNames.includes(each)).map((each) => `${placeholder(each)} is unknown here`),
  ];
};

export const plainProblems = (text: string, model = ' '): string[] => [
  ...(text.trim() === '' && model !== '' ? ['the text is empty'] : []),
  ...(/<[a-z/!]|&#?\w+;/i.test(text) ? ['a text has no markup: it is shown as it is'] : []),
  ...(/[{}]/.test(text.replaceAll(PLACEHOLDER, '')) ? ['{ or } is not part of a placeholder, which is {name}'] : []),
];

type Files = ReadonlyMap<string, string>;

type FileChecks = {
  /** @param name without `.html` */
  readonly template: (text: string, name: string) => string[];
  /** @param whole the texts, completed by those of the service and of related languages (`textsIn`) */
  readonly texts: (texts: TextTree, english: TextTree, whole: TextTree) => string[];
  /** The texts that a language must have, unless the service has the language, or the service or another file has a related one (`fallbacksOf`). */
  readonly required: readonly string[];
};

/** Checks an operator's files of templates and texts. @param builtIn the files of the service. @returns a line for each mistake, with the file's name first. */
export const fileProblems = (files: Files, builtIn: Files, checks: FileChecks): string[] => {
  const texts = new Map<string, TextTree>();
  for (const [name, text] of builtIn)
    if (name.endsWith('.json')) texts.set(name.slice(0, -'.json'.length), JSON.parse(text));
  const all = new Map(texts);
  for (const [name, text] of files) {
    const [locale, tree] = [name.replace(/\.json$/, ''), name.endsWith('.json') && parseJson(text)];
    if (isTree(tree)) all.set(locale, textsOver(texts.get(locale) ?? {}, tree));
  }
  const languageProblems = (locale: string, text: string): string[] => {
    if (canonicalLocale(locale) !== locale) return ['expected the name of a language, such as de.json or de-AT.json'];
    const tree = parseJson(text);
    if (tree instanceof Error) return [`it is no JSON: ${tree.message}`];
    if (!isTree(tree)) return ['expected an object'];
    const isNew = fallbacksOf(null, locale).every(
      (each) => !texts.has(each) && (each === locale || !files.has(`${each}.json`)),
    );
    const missing = checks.required.filter((name) => isNew && !Object.hasOwn(tree, name));
    return [
      ...checks.texts(tree, texts.get(BASE_LOCALE) ?? {}, textsIn(all, locale)),
      ...missing.map((name) => `${name} is missing, since this language is not built in`),
    ];
  };
  return [...files].flatMap(([file, text]) => {
    const name = file.replace(/\.(?:html|json)$/, '');
    const problems = file.endsWith('.json') ? languageProblems(name, text) : checks.template(text, name);
    return problems.map((problem) => `${file}: ${problem}`);
  });
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
};
