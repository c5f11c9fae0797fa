import { BUILT_IN_LOCALES, MAIL_NAMES, type TemplateFiles } from '../../../application/mail/kinds.ts';
import { localesOf } from '../../../application/mail/check-templates.ts';
import { examineTemplates } from '../../mail/template-files.ts';
import { type Finding, type Findings, note, ok, problem, type SetUp } from './finding.ts';

/** Checks every file of MAIL_TEMPLATES, as a start does. */
export const templates = async ({ config }: Pick<SetUp, 'config'>): Promise<Findings> => {
  const { own, problems } = await examineTemplates(config);
  if (problems.length > 0)
    return problems.map((text) =>
      problem('templates.invalid', text, 'Correct it, or the service does not start: docs/mail-and-pages.md.'),
    );
  const locales = [...new Set([...BUILT_IN_LOCALES, ...localesOf(own)])];
  return [ok('templates.valid', `Mails can be written in ${locales.join(', ')}.`), ...incomplete(own)];
};

/** The languages that are not built in, and lack mails. */
const incomplete = (own: TemplateFiles): Finding[] => {
  const builtIn: readonly string[] = BUILT_IN_LOCALES;
  const others = localesOf(own).filter((locale) => !builtIn.includes(locale.split('-')[0] ?? ''));
  return others.flatMap((locale) => {
    const missing = MAIL_NAMES.filter((name) => !own.has(`${locale}/${name}.txt`));
    return missing.length === 0
      ? []
      : note('templates.incomplete', `${locale} lacks ${missing.join(', ')}.`, 'These mails are in another language.');
  });
};
