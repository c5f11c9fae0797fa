export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What can be put into a template. Lists are put in one after the other. */
type Part = string | number | Html | readonly Part[];

/**
 * A template of HTML. Whatever is put into it is escaped, unless it is HTML itself. Values of attributes have to be in quotes, and
 * addresses have to be our own: a `javascript:` would stay one.
 */
export const html = (literals: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(String.raw({ raw: literals }, ...parts.map(markupOf)));

export const NOTHING = new Html('');

const markupOf = (part: Part): string => {
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(markupOf).join('') : escaped(String(part));
};

const escaped = (text: string): string => text.replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
