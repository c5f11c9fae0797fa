import { systemClock } from '../../../adapters/clock/system.ts';
import { postSigned } from '../../../adapters/hooks/signing.ts';
import { httpMailProblem } from '../../../adapters/mailer/http.ts';
import { smtpProblem } from '../../../adapters/mailer/smtp.ts';
import { textsIn } from '../../../application/templates.ts';
import { MAIL_NAMES } from '../../../domain/event-table.ts';
import { existingHookKey, newHookKey } from '../../keys.ts';
import { examineMails, PAGE_FILES } from '../../template-files.ts';
import { ANSWER_TIMEOUT_MS, type Findings, note, ok, problem, type SetUp, warning } from './examine.ts';

export const configuration = ({ config, problems }: SetUp): Findings => [
  ...(problems.length === 0 ? [ok('configuration.valid', 'The service accepts all variables.')] : []),
  ...problems.map((text) => problem(idOf(text), text, adviceFor(text))),
  ...[...config.databaseWarnings, ...config.warnings].map((text) =>
    warning(idOf(text), text, 'Change it, unless it is intended: docs/configuration.md.'),
  ),
];

const idOf = (text: string): string => `configuration.${/^[A-Z][A-Z0-9_]*/.exec(text)?.[0] ?? 'other'}`;

const adviceFor = (text: string): string =>
  /^JWT_\w+_KEY: required/.test(text)
    ? 'Make the keys with `npx tandem keys generate`, and set all four variables.'
    : 'Correct it, or the service does not start: docs/configuration.md.';

export const mail = async ({ config }: SetUp): Promise<Findings> => {
  if (config.mail === null)
    return note('mail.none', 'MAIL_URL is unset: no password reset, no email verification.', 'Set it to have them.');
  const { url, requireTls, oauth } = config.mail;
  if (url === null)
    return note('mail.files', 'MAIL_URL is unset: mail is written to DATA_DIR/mail.', 'Set MAIL_URL to send it.');
  const timeout = ANSWER_TIMEOUT_MS;
  // Where the service would make a key, the doctor uses one that it does not keep.
  const post = async () => postSigned.bind(null, url, (await existingHookKey(config)) ?? newHookKey());
  const why = url.startsWith('http')
    ? await httpMailProblem({ post: await post(), clock: systemClock, timeout })
    : await smtpProblem({ url, requireTls, oauth, timeout });
  const { host } = new URL(url);
  if (why === null) return ok('mail.reachable', `The mail server at ${host} can be used.`);
  return problem(
    'mail.unreachable',
    `The mail server at ${host} cannot be used: ${why}. Mail waits.`,
    'Check that it runs, that this machine may reach it, its certificate, the user and the password of MAIL_URL, and MAIL_OAUTH.',
  );
};

const CORRECT_TEMPLATES = 'Correct it, or the service does not start: docs/mail-and-pages.md.';

export const templates = async ({ config }: SetUp): Promise<Findings> => {
  const { templates, locales, problems } = await examineMails(config);
  if (problems.length > 0) return problems.map((text) => problem('templates.invalid', text, CORRECT_TEMPLATES));
  const incomplete = locales.flatMap((locale) => {
    const { mails } = textsIn(templates.texts, locale);
    const missing = MAIL_NAMES.filter((name) => mails?.[name] === undefined);
    return missing.length === 0 ? [] : [`${locale} lacks ${missing.join(', ')}.`];
  });
  return [
    ok('templates.valid', `Mails can be written in ${locales.join(', ')}.`),
    ...incomplete.map((text) => note('templates.incomplete', text, 'These mails are in another language.')),
  ];
};

export const pages = async ({ config }: SetUp): Promise<Findings> => {
  const { templates, problems } = await PAGE_FILES.examine(config.pageTemplates);
  return problems.length === 0
    ? ok('pages.valid', `Pages can be shown in ${templates.locales.join(', ')}.`)
    : problems.map((text) => problem('pages.invalid', text, CORRECT_TEMPLATES));
};
