import { withoutHidden } from '../../domain/typed-text.ts';

/** Code points: enough to recognize a browser, and too few for a message. */
const MAX_LENGTH = 120;

/**
 * Makes a text that a client chose, such as a username or a User-Agent, safe to show in a mail: one line of bounded length, without
 * links. Mail programs recognize links in plain text by a dot beside a letter (`evil.example`), a colon (`mailto:x`, `https://`), an
 * `@`, and a backslash (`\\server\file`). These characters are put into brackets: `evil[.]example`. Invisible characters in their place
 * would be easier to read, but some programs drop those before they search for links. The text is normalized first (NFKC), as some programs do.
 */
export const sanitize = (text: string): string => {
  const visible = withoutHidden(text.normalize('NFKC').replaceAll(/\s/gu, ' ')).replaceAll(/ +/g, ' ').trim();
  const points = [...visible];
  const short = points.length > MAX_LENGTH ? `${points.slice(0, MAX_LENGTH).join('')}…` : visible;
  return short.replaceAll(LINKING, '[$&]');
};

/** Invisible characters that stay, such as one of Mongolian, stand between a letter and a dot. */
const LINKING = /(?<=[\p{L}\p{M}\p{Cf}])[.。](?=\S)|[.。](?=[\p{L}\p{M}\p{Cf}])|:(?=\S)|\\(?=\S)|@/gu;

/** Shows enough of an address to recognize it. A reader of the former mailbox must not learn the new address. */
export const masked = (email: string): string => {
  const at = email.lastIndexOf('@');
  return `${[...email.slice(0, at)][0] ?? ''}***${email.slice(at)}`;
};
