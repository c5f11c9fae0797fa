/** Text of ours in a template, which is put in as it is. */
class Own {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Marks a text as our own: it comes from the code or from the configuration, and not from a client. */
export const own = (text: string): Own => new Own(text);

/** A line or a paragraph that may be shown: in text as it is, in HTML escaped. */
export class Prose {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A template of prose. Whatever is put into it is made harmless (`harmless`), unless it is marked as our own. */
export const prose = (literals: TemplateStringsArray, ...parts: readonly (string | Own)[]): Prose =>
  new Prose(String.raw({ raw: literals }, ...parts.map((part) => (part instanceof Own ? part.text : harmless(part)))));

/** Code points: enough to recognize a browser, and too few for a letter. */
const MAX_LENGTH = 120;
/** Control and format characters (which may reorder text), lone surrogates, and what has no meaning yet; not line breaks. */
const INVISIBLE = /(?!\s)\p{C}/gu;

/**
 * A text that a client chose, such as a username or a User-Agent, for a message to its reader: one line of bounded length that
 * mail programs do not turn into a link. They recognize links in plain text by a dot beside a letter (`evil.example`), a colon
 * (`mailto:x`, `https://`), an `@`, and a backslash (`\\server\file`). These are put into brackets, a form in which people still
 * recognize them: `evil[.]example`. Invisible characters between them would look better, but some programs drop those before they
 * look for links. Other forms of the same characters come first into their usual form, since programs may do that, too.
 */
export const harmless = (text: string): string => {
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

/** `30 minutes`, in the largest unit of which it is a whole number. @param milliseconds whole seconds. */
export const durationText = (milliseconds: number): string => {
  const [name, size] = UNITS.find(([, unit]) => milliseconds % unit === 0) ?? ['second', SECOND];
  const count = Math.round(milliseconds / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
};

const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });

/** `22 November 2026, 08:05 UTC`. @param time epoch milliseconds. */
export const timeText = (time: number): string => `${DATE.format(time)}, ${TIME.format(time)} UTC`;
