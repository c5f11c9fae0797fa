import { html } from '../html.ts';
import type { Mail } from '../ports/mailer.ts';

/** Text that a template takes as it is. */
class Trusted {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Marks a text as trusted: it comes from the code or from the configuration, and not from a client. */
export const trusted = (text: string): Trusted => new Trusted(text);

export class Prose {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A template tag for paragraphs. Values are sanitized unless they are trusted. */
export const prose = (literals: TemplateStringsArray, ...parts: readonly (string | Trusted)[]): Prose =>
  new Prose(
    String.raw({ raw: literals }, ...parts.map((part) => (part instanceof Trusted ? part.text : sanitize(part)))),
  );

/** Code points: enough to recognize a browser, and too few for a message. */
const MAX_LENGTH = 120;
/** Control characters, format characters (which may reorder text), lone surrogates and unassigned code points; not line breaks. */
const INVISIBLE = /(?!\s)\p{C}/gu;

/**
 * Makes a text that a client chose, such as a username or a User-Agent, safe to show in a mail: one line of bounded length, without
 * links. Mail programs recognize links in plain text by a dot beside a letter (`evil.example`), a colon (`mailto:x`, `https://`), an
 * `@`, and a backslash (`\\server\file`). These characters are put into brackets: `evil[.]example`. Invisible characters in their place
 * would be easier to read, but some programs drop those before they search for links. The text is normalized first (NFKC), as some programs do.
 */
export const sanitize = (text: string): string => {
  const visible = text.normalize('NFKC').replaceAll(INVISIBLE, '').replaceAll(/\s+/gu, ' ').trim();
  const points = [...visible];
  const short = points.length > MAX_LENGTH ? `${points.slice(0, MAX_LENGTH).join('')}…` : visible;
  return short.replaceAll(LINKING, '[$&]');
};

const LINKING = /(?<=[\p{L}\p{M}])[.。](?=\S)|[.。](?=[\p{L}\p{M}])|:(?=\S)|\\(?=\S)|@/gu;

const SECOND = 1_000;
const UNITS = [
  ['day', 86_400 * SECOND],
  ['hour', 3_600 * SECOND],
  ['minute', 60 * SECOND],
  ['second', SECOND],
] as const;

/** A duration in its largest whole unit: `30 minutes`, `90 seconds`. @param milliseconds a multiple of 1,000. */
export const durationText = (milliseconds: number): string => {
  const [name, size] = UNITS.find(([, unit]) => milliseconds % unit === 0) ?? ['second', SECOND];
  const count = Math.round(milliseconds / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
};

const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });

/** `22 November 2026, 08:05 UTC`. @param time epoch milliseconds. */
export const timeText = (time: number): string => `${DATE.format(time)}, ${TIME.format(time)} UTC`;

/** RFC 5322 §2.1.1 asks for 78 characters at most. */
const WIDTH = 76;

/** Wraps a text into lines. A word longer than a line is broken. */
export const wrapped = (text: string): string => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap(pieces)) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
};

const pieces = (word: string): string[] => {
  const points = [...word];
  const count = Math.max(1, Math.ceil(word.length / WIDTH));
  const size = Math.ceil(points.length / count);
  return Array.from({ length: count }, (_, at) => points.slice(at * size, (at + 1) * size).join(''));
};

export type MailContext = {
  /** The host of BASE_URL. */
  readonly serviceName: string;
  /** Without a slash at its end. The page of a link has the name of its purpose. */
  readonly pagesUrl: string;
};

export type MailText = Pick<Mail, 'subject' | 'text' | 'html'>;

/** A link to a page of the service or of its operator, with its label in HTML. */
type Link = { readonly label: string; readonly link: string };
type Facts = { readonly facts: readonly (readonly [name: string, value: Prose])[] };
type Block = Prose | Link | Facts;

/**
 * Lays out a mail as text and as HTML, from the same blocks, so that both say the same.
 * @param subject without any text that a client chose.
 */
export const mailLayout = ({ serviceName }: MailContext, subject: string, blocks: readonly Block[]): MailText => {
  const footer = prose`This message was sent by ${trusted(serviceName)}. Nobody reads answers to it.`;
  return {
    subject,
    text: `${[...blocks.map(textOf), `-- \n${textOf(footer)}`].join('\n\n')}\n`,
    html: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">
<title>${subject}</title>
</head>
<body style="font-family: sans-serif; line-height: 1.5; max-width: 36em">
${blocks.map(markupOf)}<p style="color: #666">${footer.text}</p>
</body>
</html>
`.text,
  };
};

/** The page on which a user asks for a link that sets a new password. */
export const resetPage = ({ pagesUrl }: MailContext): Link => ({
  label: 'Reset the password',
  link: `${pagesUrl}/password-reset`,
});

/** A link has its own line, so that mail programs do not take the text beside it as part of the link. */
const textOf = (block: Block): string => {
  if ('link' in block) return block.link;
  if ('facts' in block) return block.facts.map(([name, { text }]) => wrapped(`${name}: ${text}`)).join('\n');
  return wrapped(block.text);
};

const markupOf = (block: Block) => {
  if ('link' in block) return html`<p><a href="${block.link}">${block.label}</a></p>\n`;
  if ('facts' in block) {
    return html`<p>${block.facts.map(([name, { text }]) => html`${name}: ${text}<br>\n`)}</p>\n`;
  }
  return html`<p>${block.text}</p>\n`;
};
