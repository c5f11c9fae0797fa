import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { UserTexts } from '../../adapters/http/pages/user-forms.ts';
import type { TextTree, UserPageFiles } from '../../adapters/http/pages/user-pages.ts';
import { systemReason } from '../../adapters/log/redact-error.ts';
import { fallbacksOf, LAST_LOCALE } from '../../domain/locale.ts';
import { type Config, ConfigError } from '../config.ts';
import { readTextFile, visibleIn } from '../text-files.ts';

const BUILT_IN = fileURLToPath(new URL('../../adapters/http/pages/', import.meta.url));

/** Files by their names: `log-in.html`, `de.json`. */
type Files = ReadonlyMap<string, string>;

const filesIn = async (directory: string, names: RegExp): Promise<Files> => {
  const found = (await visibleIn(directory)).filter((name) => names.test(name));
  return new Map(
    await Promise.all(found.map(async (name) => [name, await readTextFile(join(directory, name))] as const)),
  );
};

/** The templates and texts of the service, as `PAGE_TEMPLATES` would have them. */
export const builtInFiles = async (): Promise<Files> => {
  const [templates, texts] = await Promise.all([
    filesIn(join(BUILT_IN, 'templates'), /\.html$/),
    filesIn(join(BUILT_IN, 'texts'), /^user-.+\.json$/),
  ]);
  return new Map([...templates, ...[...texts].map(([name, text]) => [name.replace('user-', ''), text] as const)]);
};

const endingIn = <Content>(files: ReadonlyMap<string, Content>, ending: string): ReadonlyMap<string, Content> =>
  new Map(
    [...files].flatMap(([name, content]) =>
      name.endsWith(ending) ? [[name.slice(0, -ending.length), content] as const] : [],
    ),
  );

const parsedTexts = (files: Files): ReadonlyMap<string, TextTree> =>
  new Map([...endingIn(files, '.json')].map(([locale, text]) => [locale, JSON.parse(text)]));

/** Texts over others, which have what they lack. */
const textsOver = (others: TextTree, texts: TextTree): TextTree => {
  const merged = Object.entries(texts).map(([name, value]) => {
    const other = others[name];
    return [name, typeof value === 'string' || typeof other !== 'object' ? value : textsOver(other, value)];
  });
  return { ...others, ...Object.fromEntries(merged) };
};

/** Each language over the more general one and English, and one's own texts over those of the service. */
const merged = (builtIn: Files, own: Files): UserPageFiles => {
  const [ours, theirs] = [parsedTexts(builtIn), parsedTexts(own)];
  const textsOf = (locale: string): TextTree =>
    fallbacksOf(locale, LAST_LOCALE)
      .reverse()
      .flatMap((each) => [ours.get(each) ?? {}, theirs.get(each) ?? {}])
      .reduce(textsOver, {});
  const locales = [...new Set([...ours.keys(), ...theirs.keys()])];
  return {
    templates: new Map([...endingIn(builtIn, '.html'), ...endingIn(own, '.html')]),
    // The tree of the service has this type, and that of PAGE_TEMPLATES is checked against it.
    texts: new Map(locales.map((locale) => [locale, textsOf(locale) as UserTexts])),
  };
};

type Examined = {
  readonly files: UserPageFiles;
  /** A line each. */
  readonly problems: readonly string[];
};

type PageConfig = Pick<Config, 'pageTemplates'>;

/** The templates and texts of PAGE_TEMPLATES over those of the service, and what is wrong with them. */
export const examinePages = async ({ pageTemplates }: PageConfig): Promise<Examined> => {
  const ofService = await builtInPages();
  if (pageTemplates === null) return { files: ofService, problems: [] };
  // No start without such a directory needs it (ADR 0021).
  const { pageProblems } = await import('../../adapters/http/pages/check-files.ts');
  try {
    const [own, builtIn, names] = await Promise.all([
      filesIn(pageTemplates, /\.(?:html|json)$/),
      builtInFiles(),
      visibleIn(pageTemplates),
    ]);
    // Templates of mails are in such directories.
    const languages = names
      .filter((name) => !name.includes('.'))
      .map((name) => `${name}: expected a file ${name}.json`);
    const problems = [...languages, ...pageProblems(own, builtIn)];
    if (problems.length === 0) return { files: merged(builtIn, own), problems };
    return { files: ofService, problems: problems.map((problem) => `PAGE_TEMPLATES: ${problem}`) };
  } catch (error) {
    return { files: ofService, problems: [`PAGE_TEMPLATES: the directory cannot be read: ${systemReason(error)}`] };
  }
};

let readBefore: Promise<UserPageFiles> | undefined;

/** The templates and texts of the service, read once. After a failure, the next call tries again. */
export const builtInPages = (): Promise<UserPageFiles> => {
  readBefore ??= builtInFiles()
    .then((files) => merged(files, new Map()))
    .catch((error: unknown) => {
      readBefore = undefined;
      throw error;
    });
  return readBefore;
};

/**
 * Opens the templates and texts of the configuration. Those of the service alone are read with the first page.
 * @throws ConfigError
 */
export const openPageFiles = async (config: PageConfig): Promise<() => Promise<UserPageFiles>> => {
  if (config.pageTemplates === null) return builtInPages;
  const { files, problems } = await examinePages(config);
  if (problems.length > 0) throw new ConfigError(problems);
  return async () => files;
};
