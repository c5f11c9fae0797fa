import { readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { UserTexts } from '../adapters/http/pages/page-view.ts';
import { systemReason } from '../adapters/log/redact-error.ts';
import type { MailTexts } from '../application/mail/write-mail.ts';
import { type Templates, type TextTree, textsIn, textsOver } from '../application/templates.ts';
import { BASE_LOCALE, fallbacksOf } from '../domain/text.ts';
import { type Config, ConfigError } from './config.ts';
import { readTextFile } from './texts.ts';

/** Templates and texts by the names of their files, such as `log-in.html` or `de.json`. */
type Files = ReadonlyMap<string, string>;

type Kind = {
  readonly variable: 'MAIL_TEMPLATES' | 'PAGE_TEMPLATES';
  readonly directory: URL;
  /** Loads the check of an operator's files, which a start without such files does not need (ADR 0021). */
  readonly loadCheck: () => Promise<(own: Files, builtIn: Files) => string[]>;
  /** The language whose texts are used where another language lacks some. Default: none. */
  readonly fallback?: string;
};

/** The sorted names in a directory, without hidden ones, which a mounted ConfigMap has. */
const visibleIn = async (directory: string): Promise<string[]> =>
  (await readdir(directory)).filter((name) => !name.startsWith('.')).sort();

const filesIn = async (directory: string, ending = /\.(?:html|json|css)$/): Promise<Files> => {
  const names = (await visibleIn(directory)).filter((name) => ending.test(name));
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readTextFile(join(directory, name))] as const)),
  );
};

/** Replaces templates and single texts of the service by those of an operator. A language of the service is read when it is first needed. */
const loadTemplates = async <Texts>(
  { directory, fallback }: Kind,
  own: Files = new Map(),
): Promise<Templates<Texts>> => {
  const path = fileURLToPath(directory);
  const [builtIn, names] = await Promise.all([filesIn(path, /\.html$/), visibleIn(path)]);
  const all = new Map([...builtIn, ...own]);
  const locales = [...new Set([...names, ...own.keys()].flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? []))];
  const treeOf = (locale: string): TextTree | undefined => {
    const name = `${locale}.json`;
    if (!locales.includes(locale)) return undefined;
    const builtInTexts = names.includes(name) ? JSON.parse(readFileSync(join(path, name), 'utf8')) : {};
    return textsOver(builtInTexts, JSON.parse(own.get(name) ?? '{}'));
  };
  const textsByLocale = new Map<string, TextTree | undefined>();
  return {
    templates: new Map(
      [...all].flatMap(([name, text]) => (name.endsWith('.json') ? [] : [[name.replace(/\.\w+$/, ''), text]])),
    ),
    locales,
    texts: {
      get(locale) {
        if (!locales.includes(locale)) return undefined;
        const texts =
          textsByLocale.get(locale) ?? (fallback ? textsIn({ get: treeOf }, locale, fallback) : treeOf(locale));
        textsByLocale.set(locale, texts);
        // The cast: the texts of the service have this type, and an operator's texts were checked against them.
        return texts as Texts | undefined;
      },
    },
  };
};

const templatesOf = <Texts>(kind: Kind) => {
  const { variable, directory, loadCheck } = kind;
  const files = (): Promise<Files> => filesIn(fileURLToPath(directory));
  let builtInTemplates: Promise<Templates<Texts>> | undefined;
  /** The templates of the service, which are read once. After a failure, the next call reads them again. */
  const builtIn = (): Promise<Templates<Texts>> => {
    builtInTemplates ??= loadTemplates<Texts>(kind).catch((error: unknown) => {
      builtInTemplates = undefined;
      throw error;
    });
    return builtInTemplates;
  };
  /** @param own the directory of an operator's files. @returns the templates, and a line for each problem */
  const examine = async (own: string | null) => {
    if (own === null) return { templates: await builtIn(), problems: [] };
    const check = await loadCheck();
    try {
      const [builtInFiles, ownFiles, names] = await Promise.all([files(), filesIn(own), visibleIn(own)]);
      // Names without a dot are reported as directories: in earlier versions, each language of the mails was one.
      const languages = names
        .filter((name) => !name.includes('.'))
        .map((name) => `${name}: expected a file ${name}.json, and no directory: docs/mail-and-pages.md, CHANGELOG.md`);
      const problems = [...languages, ...check(ownFiles, builtInFiles)].map((problem) => `${variable}: ${problem}`);
      return { templates: await (problems.length === 0 ? loadTemplates<Texts>(kind, ownFiles) : builtIn()), problems };
    } catch (error) {
      const problem = `${variable}: the directory cannot be read: ${systemReason(error)}`;
      return { templates: await builtIn(), problems: [problem] };
    }
  };
  return { files, builtIn, examine };
};

export const PAGE_FILES = templatesOf<UserTexts>({
  variable: 'PAGE_TEMPLATES',
  directory: new URL('../adapters/http/pages/templates/', import.meta.url),
  loadCheck: async () => (await import('../adapters/http/pages/check-templates.ts')).pageProblems,
  fallback: BASE_LOCALE,
});
export const MAIL_FILES = templatesOf<Partial<MailTexts>>({
  variable: 'MAIL_TEMPLATES',
  directory: new URL('../application/mail/templates/', import.meta.url),
  loadCheck: async () => (await import('../application/mail/check-mails.ts')).mailProblems,
});

type TemplateConfig = Pick<Config, 'mailTemplates' | 'pageTemplates' | 'defaultLocale'>;

/** The templates of mails, their languages, and a line for each problem of MAIL_TEMPLATES and DEFAULT_LOCALE. */
export const examineMails = async ({ mailTemplates, defaultLocale }: Omit<TemplateConfig, 'pageTemplates'>) => {
  const { templates, problems } = await MAIL_FILES.examine(mailTemplates);
  const { locales } = templates;
  const hasDefault = fallbacksOf(null, defaultLocale).some((locale) => locales.includes(locale));
  const missing = hasDefault ? [] : ['DEFAULT_LOCALE: there are no mails in this language'];
  return { templates, locales, problems: [...problems, ...missing] };
};

/** Opens the configured templates. Without PAGE_TEMPLATES, the templates of pages are read for the first page. @throws ConfigError */
export const openTemplates = async (config: TemplateConfig) => {
  const { templates: mails, locales, problems } = await examineMails(config);
  const pages = config.pageTemplates === null ? null : await PAGE_FILES.examine(config.pageTemplates);
  const all = [...problems, ...(pages?.problems ?? [])];
  if (all.length > 0) throw new ConfigError(all);
  return {
    mails: async () => mails,
    locales,
    pages: pages === null ? PAGE_FILES.builtIn : async () => pages.templates,
  };
};

/** Writes files to a directory. @throws Error, for instance if one of them exists */
export const writeFiles = async (directory: string, files: Files): Promise<void> => {
  const firstCreated = await mkdir(directory, { recursive: true });
  // New directories are readable for everybody, since the files are no secrets and the service may run as another user. Other directories keep their mode.
  for (
    let each = resolve(directory);
    firstCreated !== undefined && each.length >= firstCreated.length;
    each = dirname(each)
  )
    await chmod(each, 0o755);
  for (const [name, text] of files) {
    await writeFile(join(directory, name), text, { flag: 'wx' });
    await chmod(join(directory, name), 0o644);
  }
};
