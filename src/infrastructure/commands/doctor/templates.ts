import { missingMails } from '../../../application/mail/check-templates.ts';
import { examineTemplates } from '../../mail/template-files.ts';
import { type Findings, note, ok, problem, type SetUp } from './finding.ts';

/** Checks every file of MAIL_TEMPLATES, as a start does. */
export const templates = async ({ config }: Pick<SetUp, 'config'>): Promise<Findings> => {
  const { own, locales, problems } = await examineTemplates(config);
  if (problems.length > 0)
    return problems.map((text) =>
      problem('templates.invalid', text, 'Correct it, or the service does not start: docs/mail-and-pages.md.'),
    );
  return [
    ok('templates.valid', `Mails can be written in ${locales.join(', ')}.`),
    ...missingMails(own).map(({ locale, mails }) =>
      note('templates.incomplete', `${locale} lacks ${mails.join(', ')}.`, 'These mails are in another language.'),
    ),
  ];
};
