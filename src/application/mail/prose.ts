/** Text that a template takes as it is. */
class Trusted {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Marks a text as trusted: it comes from the code or from the configuration, and not from a client. */
export const trusted = (text: string): Trusted => new Trusted(text);

/** A paragraph of a mail. */
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
 * would look better, but some programs drop those before they look for links. The text is normalized first (NFKC), as some programs do.
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
