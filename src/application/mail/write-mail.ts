import { fallbacksOf, LAST_LOCALE } from '../../domain/locale.ts';
import { html } from '../html.ts';
import type { Mail } from '../ports/mailer.ts';
import { shown, wrapped } from './formats.ts';
import {
  isLinkVariable,
  isTrustedVariable,
  LAYOUT,
  type MailName,
  type MailValue,
  type TemplateFiles,
} from './kinds.ts';

/** A variable in a template. */
export const VARIABLE = /\{\{(\w+)\}\}/g;
/** Where a layout has the mail. */
const CONTENT = '{{content}}';

export type MailToWrite = {
  readonly template: MailName;
  /** The values of its variables. */
  readonly values: Readonly<Record<string, MailValue>>;
  /** The language of the reader; `null`: not known. */
  readonly locale: string | null;
};

export type MailSettings = {
  /** The name of the product. */
  readonly brand: string;
  readonly defaultLocale: string;
};

export type MailText = Pick<Mail, 'subject' | 'text' | 'html'>;

/** Writes a mail from the templates in the language of its reader, or else in the default one. */
export const writeMail = (
  files: TemplateFiles,
  { brand, defaultLocale }: MailSettings,
  { template, values, locale }: MailToWrite,
): MailText => {
  const found = [...fallbacksOf(locale, defaultLocale), LAST_LOCALE].find((each) =>
    files.has(`${each}/${template}.txt`),
  );
  if (found === undefined) throw new Error(`There is no template ${template}.`);
  const ofReader = isMoreGeneral(found, locale) ? locale : found;
  const { subject: subjectTemplate, body } = partsOf(files.get(`${found}/${template}.txt`) ?? '');
  const given: Readonly<Record<string, MailValue>> = { ...values, brand, locale: found };
  const textOf = (name: string) => shown(given[name] ?? '', ofReader, { isTrusted: isTrustedVariable(name) });
  const subject = filled(subjectTemplate, textOf);
  const textFor = (name: string) => (name === 'subject' ? subject : textOf(name));
  const inLayout = (kind: 'txt' | 'html', content: string) =>
    layoutOf(files, kind, ofReader, found).replaceAll(CONTENT, () => content);
  return {
    subject,
    text: filledText(inLayout('txt', body), textFor),
    html: filled(inLayout('html', files.get(`${found}/${template}.html`) ?? markupOf(body)), (name) =>
      escaped(textFor(name)),
    ),
  };
};

/** Whether texts in a language are for a reader of another: `de` for `de-AT`. */
const isMoreGeneral = (found: string, locale: string | null): locale is string =>
  locale !== null && `${locale}-`.startsWith(`${found}-`);

const filled = (template: string, textFor: (name: string) => string): string =>
  template.replaceAll(VARIABLE, (_variable, name: string) => textFor(name));

const escaped = (text: string): string => html`${text}`.text;

/** The first line of a text is the subject. */
export const partsOf = (text: string): { readonly subject: string; readonly body: string } => {
  const [subject = '', ...lines] = text.replaceAll('\r\n', '\n').trim().split('\n');
  return { subject: subject.trim(), body: lines.join('\n').trim() };
};

/** The variable of a line that is a link and nothing else. */
export const linkOf = (line: string): string | null => {
  const [, name = ''] = /^\{\{(\w+)\}\}$/.exec(line.trim()) ?? [];
  return isLinkVariable(name) ? name : null;
};

/** A link has its own line, which is not wrapped, so that mail programs do not take the text beside it as part of the link. */
const filledText = (body: string, textFor: (name: string) => string): string =>
  body
    .split('\n')
    .map((line) => (linkOf(line) === null ? wrapped(filled(line, textFor)) : filled(line.trim(), textFor)))
    .join('\n');

/**
 * The HTML of a text, with its variables: paragraphs, and links. The line before a link is its label. So both say the same, unless a
 * language has an HTML of its own.
 */
export const markupOf = (body: string): string =>
  body
    .split(/\n{2,}/)
    .map((paragraph) => {
      const lines = paragraph.split('\n').map((line) => line.trim());
      const link = linkOf(lines.at(-1) ?? '');
      if (link === null) return `<p>${lines.map(escaped).join('<br>\n')}</p>`;
      const label = lines.slice(0, -1).join(' ').replace(/:$/, '');
      return `<p><a href="{{${link}}}">${label === '' ? `{{${link}}}` : escaped(label)}</a></p>`;
    })
    .join('\n');

const layoutOf = (files: TemplateFiles, kind: 'txt' | 'html', locale: string, found: string): string => {
  const name = [...fallbacksOf(locale, found), LAST_LOCALE].find((each) => files.has(`${each}/${LAYOUT}.${kind}`));
  return files.get(`${name}/${LAYOUT}.${kind}`) ?? CONTENT;
};
