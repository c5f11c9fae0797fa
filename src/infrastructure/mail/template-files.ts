import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemReason } from '../../adapters/log/redact-error.ts';
import type { TemplateFiles } from '../../application/mail/kinds.ts';
import { BUILT_IN_LOCALES, fallbacksOf } from '../../domain/locale.ts';
import { type Config, ConfigError } from '../config.ts';
import { readTextFile, visibleIn } from '../text-files.ts';

const BUILT_IN = fileURLToPath(new URL('../../application/mail/templates', import.meta.url));

let builtIn: Promise<TemplateFiles> | undefined;

/** The templates of the service, read once. After a failure, the next call tries again. */
export const builtInTemplates = (): Promise<TemplateFiles> => {
  builtIn ??= readTemplates(BUILT_IN)
    .then(withParts)
    .catch((error: unknown) => {
      builtIn = undefined;
      throw error;
    });
  return builtIn;
};

/** A text that several templates of the service have, on a line of its own: `{{_happened}}` is that of `_happened.txt`. */
const PART = /^\{\{(_\w+)\}\}\n?/gm;

const withParts = (files: TemplateFiles): TemplateFiles => {
  const templates = [...files].filter(([path]) => !path.includes('/_'));
  return new Map(
    templates.map(([path, text]) => [
      path,
      text.replaceAll(PART, (_line, part: string) => files.get(`${dirname(path)}/${part}.txt`) ?? ''),
    ]),
  );
};

/**
 * The files of a directory of templates, in its directories and at its top, where they do not belong. Hidden ones are left out, as those
 * of a mounted ConfigMap, and other files beside the directories.
 */
export const readTemplates = async (directory: string): Promise<TemplateFiles> => {
  const files = new Map<string, string>();
  for (const name of await visibleIn(directory)) {
    const path = join(directory, name);
    // Follows links, which a mounted volume may have.
    if (!(await stat(path)).isDirectory()) {
      if (/\.(?:txt|html)$/.test(name)) files.set(name, '');
    } else for (const file of await visibleIn(path)) files.set(`${name}/${file}`, await readTextFile(join(path, file)));
  }
  return files;
};

type TemplateConfig = Pick<Config, 'mailTemplates' | 'defaultLocale'>;

type Examined = {
  /** The files of MAIL_TEMPLATES. */
  readonly own: TemplateFiles;
  /** The languages that there are mails in. */
  readonly locales: readonly string[];
  /** A line each. */
  readonly problems: readonly string[];
};

/** What is wrong with MAIL_TEMPLATES and DEFAULT_LOCALE. */
export const examineTemplates = async ({ mailTemplates, defaultLocale }: TemplateConfig): Promise<Examined> => {
  const { own, locales, problems } = mailTemplates === null ? NONE : await examineDirectory(mailTemplates);
  const hasDefault = fallbacksOf(null, defaultLocale).some((locale) => locales.includes(locale));
  return {
    own,
    locales,
    problems: hasDefault ? problems : [...problems, 'DEFAULT_LOCALE: there are no mails in this language'],
  };
};

const NONE: Examined = { own: new Map(), locales: BUILT_IN_LOCALES, problems: [] };

const examineDirectory = async (directory: string): Promise<Examined> => {
  // No start without such a directory needs it (ADR 0021).
  const { localesOf, templateProblems } = await import('../../application/mail/check-templates.ts');
  try {
    const own = await readTemplates(directory);
    const locales = [...new Set([...BUILT_IN_LOCALES, ...localesOf(own)])];
    return { own, locales, problems: templateProblems(own).map((problem) => `MAIL_TEMPLATES: ${problem}`) };
  } catch (error) {
    return { ...NONE, problems: [`MAIL_TEMPLATES: the directory cannot be read: ${systemReason(error)}`] };
  }
};

export type OpenTemplates = {
  /** Those of the service and of MAIL_TEMPLATES, which take precedence. */
  readonly templates: () => Promise<TemplateFiles>;
  /** The languages that there are templates in. */
  readonly locales: readonly string[];
};

/**
 * Opens the templates of the configuration. Those of the service are read with the first mail.
 * @throws ConfigError
 */
export const openTemplates = async (config: TemplateConfig): Promise<OpenTemplates> => {
  const { own, locales, problems } = await examineTemplates(config);
  if (problems.length > 0) throw new ConfigError(problems);
  return { templates: async () => new Map([...(await builtInTemplates()), ...own]), locales };
};
