import type { MailName } from '../../domain/event-table.ts';
import { BASE_LOCALE, fallbacksOf, withoutHidden } from '../../domain/text.ts';
import type { Mail } from '../ports/mailer.ts';
import { filledTemplate, filledText, Html, html, type Templates, textsIn } from '../templates.ts';

/** The variables that are URLs of pages. All except the last two contain a token. */
const LINK_VARIABLES = ['link', 'confirmLink', 'disownLink', 'undoLink', 'resetPage', 'codePage'] as const;
export type LinkVariable = (typeof LINK_VARIABLES)[number];

export const isLinkVariable = (name: string): name is LinkVariable => LINK_VARIABLES.some((each) => each === name);

/** Whether readers copy the value. All other values are isolated in a text that runs from right to left (Unicode TR9). */
const isCopied = (name: string): boolean => isLinkVariable(name) || name === 'code';

/** Whether a text comes from the service, its configuration or its operator. All other texts are sanitized. */
export const isTrustedVariable = (name: string): boolean =>
  isLinkVariable(name) || ['brand', 'network', 'apps', 'code', 'subject', 'locale'].includes(name);

/** The variables of the HTML layout around every mail. */
export const LAYOUT_VARIABLES = ['content', 'footer', 'subject', 'locale', 'direction', 'brand'] as const;

/** A value before it becomes a text in a language. An empty text or list is shown as a dash. */
export type MailValue =
  | string
  /** Texts from outside, such as the names of passkeys. They are shown in quotation marks. */
  | readonly string[]
  /** Milliseconds, a multiple of 1,000. */
  | { readonly duration: number }
  | { readonly time: number };

/** The texts of mails in a language. A mail is its subject and its paragraphs. */
export type MailTexts = {
  readonly direction: string;
  readonly footer: string;
  /** Paragraphs that several mails share. A mail contains them as a paragraph that is only their placeholder, such as `{happened}`. */
  readonly parts: Readonly<Record<string, readonly string[]>>;
  readonly mails: Readonly<Record<MailName, readonly string[]>>;
};
export type MailTemplates = Templates<Partial<MailTexts>>;

type MailToWrite = {
  readonly template: MailName;
  readonly values: Readonly<Record<string, MailValue>>;
  readonly locale: string | null;
};

export type MailSettings = { readonly brand: string; readonly defaultLocale: string };

export type MailText = Pick<Mail, 'subject' | 'text' | 'html'>;

export const writeMail = (
  { templates, texts }: MailTemplates,
  { brand, defaultLocale }: MailSettings,
  { template, values, locale }: MailToWrite,
): MailText => {
  const language = fallbacksOf(locale, defaultLocale).find((each) => texts.get(each)?.mails?.[template]) ?? BASE_LOCALE;
  const readerLocale = `${locale}-`.startsWith(`${language}-`) ? (locale ?? language) : language;
  const { direction = '', footer = '', parts, mails } = textsIn(texts, readerLocale);
  const { subject, body } = subjectAndBody(mails?.[template] ?? [], parts);
  const allValues: Readonly<Record<string, MailValue>> = { ...values, brand };
  const textFor = (name: string) => {
    const text = displayText(allValues[name] ?? '', readerLocale, { isTrusted: isTrustedVariable(name) });
    return direction === 'rtl' && !isCopied(name) ? `\u2068${text}\u2069` : text;
  };
  const layoutValues: Readonly<Record<string, string | Html>> = {
    ...{ brand, direction, locale: language },
    subject: filledText(subject, textFor),
    footer: filledText(footer, textFor),
    content: new Html(markupOf(body, textFor)),
  };
  return {
    subject: `${layoutValues.subject}`,
    text: `${[...body.map((paragraph) => plainText(paragraph, textFor)), wrapText(`${layoutValues.footer}`)].join('\n\n')}\n`,
    html: filledTemplate(templates.get('layout') ?? '', (name) => layoutValues[name] ?? ''),
  };
};

/** The subject of a mail, and its paragraphs with the shared parts in place of their placeholders. */
export const subjectAndBody = (
  [subject = '', ...paragraphs]: readonly string[],
  parts: Readonly<Record<string, readonly string[]>> = {},
): { readonly subject: string; readonly body: readonly string[] } => {
  const partsByName = new Map(Object.entries(parts));
  return { subject, body: paragraphs.flatMap((each) => partsByName.get(placeholderOf(each) ?? '') ?? [each]) };
};

/** The name of a placeholder, if the text consists of it alone. */
const placeholderOf = (text: string): string | undefined => /^\{(\w+)\}$/.exec(text.trim())?.[1];

/** The name of a link variable, if the line consists of its placeholder alone. */
export const linkOf = (line: string): string | null => {
  const name = placeholderOf(line) ?? '';
  return isLinkVariable(name) ? name : null;
};

/** The plain text of a paragraph. Lines with links are not wrapped, so that mail programs recognize them. */
const plainText = (paragraph: string, textFor: (name: string) => string): string =>
  paragraph
    .split('\n')
    .map((line) => (linkOf(line) === null ? wrapText(filledText(line, textFor)) : filledText(line.trim(), textFor)))
    .join('\n');

/** The HTML of paragraphs. The lines before a link are its label. The first link becomes a button. */
const markupOf = (body: readonly string[], textFor: (name: string) => string): string => {
  const links = body.map((paragraph) => linkOf(paragraph.split('\n').at(-1) ?? ''));
  const first = links.findIndex((link) => link !== null);
  return body
    .map((paragraph, at) => {
      const lines = paragraph.split('\n').map((line) => filledText(line, textFor));
      const link = links[at] ?? null;
      if (placeholderOf(paragraph) === 'code') return html`<p class="code">${lines}</p>`.text;
      if (link === null) return html`<p>${lines.map((line, at) => html`${at === 0 ? '' : BR}${line}`)}</p>`.text;
      const label = lines
        .slice(0, -1)
        .join(' ')
        .replace(/\s*[:：]$/, '');
      const kind = at === first ? html` class="button"` : '';
      return html`<p><a href="${textFor(link)}"${kind}>${label || textFor(link)}</a></p>`.text;
    })
    .join('\n');
};
const BR = new Html('<br>\n');

const SECOND = 1_000;
const TIME_UNITS = [
  ['day', 86_400 * SECOND],
  ['hour', 3_600 * SECOND],
  ['minute', 60 * SECOND],
  ['second', SECOND],
] as const;

/** A duration in its largest whole unit: `30 minutes`, `90 Sekunden`. @param milliseconds a multiple of 1,000. */
export const durationText = (milliseconds: number, locale: string): string => {
  const [unit, size] = TIME_UNITS.find(([, size]) => milliseconds % size === 0) ?? ['second', SECOND];
  const count = Math.round(milliseconds / size);
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
};

const TIME_FORMAT = {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
  timeZoneName: 'short',
} as const;

/** A time in UTC, such as `22. November 2026 um 08:05 UTC`. @param time epoch milliseconds. */
export const timeText = (time: number, locale: string): string =>
  new Intl.DateTimeFormat(locale, TIME_FORMAT).format(time);

const DASH = '—';

/** The text of a value, before it is escaped. */
const displayText = (value: MailValue, locale: string, { isTrusted }: { readonly isTrusted: boolean }): string => {
  if (typeof value === 'string') return (isTrusted ? value : sanitize(value)) || DASH;
  if ('duration' in value) return durationText(value.duration, locale);
  if ('time' in value) return timeText(value.time, locale);
  return value.map((text) => `"${sanitize(text)}"`).join(', ') || DASH;
};

/** The most characters of a wrapped line: RFC 5322 §2.1.1 asks for 78 at most. */
const LINE_WIDTH = 76;

/** Wraps a text into lines. A word longer than a line is broken. */
export const wrapText = (text: string): string => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap(splitLongWord)) {
    if (line !== '' && line.length + 1 + word.length > LINE_WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
};

const splitLongWord = (word: string): string[] => {
  const points = [...word];
  const count = Math.max(1, Math.ceil(word.length / LINE_WIDTH));
  const size = Math.ceil(points.length / count);
  return Array.from({ length: count }, (_, at) => points.slice(at * size, (at + 1) * size).join(''));
};

/** The most code points of a client's text: enough for the name of a browser. */
const CLIENT_TEXT_MAX_LENGTH = 120;

/**
 * Makes a client's text safe for a mail: one line of bounded length, without links. The characters by which mail programs recognize links are put into
 * brackets (`evil[.]example`), since programs may ignore invisible separators.
 */
export const sanitize = (text: string): string => {
  const visible = withoutHidden(text.normalize('NFKC').replaceAll(/\s/gu, ' ')).replaceAll(/ +/g, ' ').trim();
  const points = [...visible];
  const short =
    points.length > CLIENT_TEXT_MAX_LENGTH ? `${points.slice(0, CLIENT_TEXT_MAX_LENGTH).join('')}…` : visible;
  return short.replaceAll(LINK_CHARACTERS, '[$&]');
};

/** The characters by which mail programs recognize links. An invisible character, such as one of Mongolian, may stand between a letter and a dot. */
const LINK_CHARACTERS = /(?<=[\p{L}\p{M}\p{Cf}])[.。](?=\S)|[.。](?=[\p{L}\p{M}\p{Cf}])|:(?=\S)|\\(?=\S)|@/gu;

/** An address in a form that its owner recognizes, without revealing it to somebody who reads the former mailbox. */
export const maskedAddress = (email: string): string => {
  const at = email.lastIndexOf('@');
  return `${[...email.slice(0, at)][0] ?? ''}***${email.slice(at)}`;
};
