import { html } from '../html.ts';
import type { Mail } from '../ports/mailer.ts';
import { type Prose, prose, trusted } from './prose.ts';

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

/** What every mail needs to know. */
export type MailContext = {
  /** The host of BASE_URL. */
  readonly serviceName: string;
  /** Without a slash at its end. The page of a link has the name of its purpose. */
  readonly pagesUrl: string;
};

export type MailText = Pick<Mail, 'subject' | 'text' | 'html'>;

/** A link of ours, with its label in HTML. */
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
