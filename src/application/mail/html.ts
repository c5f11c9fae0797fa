/** HTML, as opposed to text that has to be escaped. */
class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | Html | readonly Html[];

/** A template of HTML. Text that is put into it is escaped. Values of attributes have to be in quotes. */
export const html = (literals: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(String.raw({ raw: literals }, ...parts.map(markupOf)));

const markupOf = (part: Part): string => {
  if (typeof part === 'string') return escaped(part);
  return part instanceof Html ? part.text : part.map(markupOf).join('');
};

const escaped = (text: string): string => text.replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
