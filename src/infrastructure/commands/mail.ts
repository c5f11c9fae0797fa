import { systemReason } from '../../adapters/log/redact-error.ts';
import {
  COMMON_VARIABLES,
  LAYOUT,
  MAIL_NAMES,
  MAIL_VARIABLES,
  type MailName,
  type MailValue,
} from '../../application/mail/kinds.ts';
import { markupOf, masked, partsOf, writeMail } from '../../application/mail/write-mail.ts';
import { EMAIL_LINK_LIFETIME, UNDO_LIFETIME } from '../../domain/link.ts';
import { canonicalLocale } from '../../domain/locale.ts';
import { invalidArguments } from '../command-error.ts';
import type { Env } from '../config/variables.ts';
import { parseConfig } from '../config.ts';
import { builtInTemplates, openTemplates } from '../mail/template-files.ts';
import { writeTextFiles } from '../text-files.ts';
import { action, type Command } from './command.ts';

const WIDTH = Math.max(...MAIL_NAMES.map(({ length }) => length));

const list = (): string =>
  MAIL_NAMES.map((name) => {
    const variables = [...COMMON_VARIABLES, ...MAIL_VARIABLES[name]].map((each) => `{{${each}}}`);
    return `${name.padEnd(WIDTH)}  ${variables.join(' ')}\n`;
  }).join('');

const render = async (name: string, given: string | undefined, asHtml: boolean, env: Env): Promise<string> => {
  const template = MAIL_NAMES.find((each) => each === name);
  if (template === undefined)
    throw invalidArguments(`There is no mail ${name}. The mails are ${MAIL_NAMES.join(', ')}.`);
  const locale = given === undefined ? null : canonicalLocale(given);
  if (given !== undefined && locale === null)
    throw invalidArguments('--locale: expected a language tag, such as de or de-AT');
  const config = parseConfig(env);
  const { templates } = await openTemplates(config);
  const values = madeUpValues(template, config.accountPagesUrl);
  const settings = { brand: config.brand.name, defaultLocale: config.defaultLocale };
  const { subject, text, html } = writeMail(await templates(), settings, { template, values, locale });
  return asHtml ? html : `Subject: ${subject}\n\n${text}`;
};

/** Values of all variables, as a mail could have them. */
export const madeUpValues = (name: MailName, pagesUrl: string): Readonly<Record<string, MailValue>> => {
  const link = (page: string) => `${pagesUrl}/${page}#token=Yt2mJ8o1Jm3q4Wn0zQe7Rk5sXc9uVb6aLd1fGh2iKj4`;
  const time = Date.UTC(2026, 10, 22, 8, 5);
  return {
    username: 'ada',
    newEmail: masked('ada@example.org'),
    code: '48151623',
    codePage: new URL('/auth/code', pagesUrl).href,
    validFor: { duration: EMAIL_LINK_LIFETIME },
    undoFor: { duration: UNDO_LIFETIME },
    undoUntil: { time },
    time: { time },
    device: ['Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'],
    network: '203.0.113.0/24',
    passkeys: ['Phone', 'Security key'],
    signIns: ['google ada@gmail.com'],
    apps: '1',
    link: link(name),
    confirmLink: link('email-verification'),
    disownLink: link('not-me'),
    undoLink: link(name === 'email-changed' ? 'email-change-undo' : 'factors-undo'),
    resetPage: `${pagesUrl}/password-reset`,
  };
};

const htmlOf = (path: string): string => path.replace(/txt$/, 'html');

/** @throws Error when one of the files exists. */
const copy = async (directory: string, withHtml: boolean): Promise<string> => {
  const builtIn = await builtInTemplates();
  const files = new Map(builtIn);
  for (const [path, text] of builtIn)
    if (withHtml && path.endsWith('.txt') && !builtIn.has(htmlOf(path)))
      files.set(htmlOf(path), `${markupOf(partsOf(text).body)}\n`);
  try {
    await writeTextFiles(directory, files);
  } catch (error) {
    throw new Error(`copy: ${systemReason(error)}`);
  }
  return `${files.size} files were written to ${directory}. Keep those that you change: the others are built in.\n`;
};

export const mail: Command = {
  actions: {
    '': action({
      does: 'lists the mails, and the variables of their templates',
      run: async () => ({ text: list() }),
    }),
    render: action({
      args: ['MAIL'],
      options: { locale: 'de', html: true },
      does: 'shows a mail as it would be sent, with made-up values',
      run: async ({ args: [name = ''], options, env }) => ({
        text: await render(name, options.locale, options.html, env),
      }),
    }),
    copy: action({
      args: ['DIR'],
      options: { html: true },
      does: 'writes the built-in templates to a directory, for MAIL_TEMPLATES',
      run: async ({ args: [directory = ''], options }) => ({ text: await copy(directory, options.html) }),
    }),
  },
  notes: `The HTML of a mail is made of its text, within ${LAYOUT}.html. A mail with a file of its own, <mail>.html, has that instead:
copy --html writes these files, too.`,
};
