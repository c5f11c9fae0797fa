import { fallbacksOf } from '../domain/text.ts';

/** Markup, which a template inserts as it is. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value in a template. The parts of a list follow each other. */
type TemplateValue = string | number | Html | readonly TemplateValue[];

/** A template of HTML. Values are escaped, unless they are `Html`. Attributes need quotes, and URLs must be trusted: `javascript:` is not removed. */
export const html = (literals: TemplateStringsArray, ...parts: readonly TemplateValue[]): Html =>
  new Html(String.raw({ raw: literals }, ...parts.map(markupOf)));

export const NO_HTML = new Html('');

const markupOf = (part: TemplateValue): string => {
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(markupOf).join('') : escapeHtml(String(part));
};

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"'`]/g, (char) => `&#${char.charCodeAt(0)};`);

/** The texts of a language, with placeholders `{name}`. Templates are HTML with variables `{{name}}`, and no logic. */
export type TextTree = { readonly [name: string]: string | readonly string[] | TextTree };

type TextsByLocale<Texts> = { readonly get: (locale: string) => Texts | undefined };

export type Templates<Texts = TextTree> = {
  readonly templates: ReadonlyMap<string, string>;
  readonly locales: readonly string[];
  readonly texts: TextsByLocale<Texts>;
};

export const VARIABLE = /\{\{([\w.-]+)\}\}/g;
export const PLACEHOLDER = /\{(\w+)\}/g;

export const filledTemplate = (template: string, textFor: (name: string) => Html | string): string =>
  template.replaceAll(VARIABLE, (_all, name: string) => html`${textFor(name)}`.text);

export const filledText = (text: string, textFor: (name: string) => string): string =>
  text.replaceAll(PLACEHOLDER, (_all, name: string) => textFor(name));

/** The texts of a language. Texts that it lacks come from its other `fallbacksOf`: those of `de-AT`, with `en` as `last`, from `de`, then from `en`. */
export const textsIn = <Texts extends object>(texts: TextsByLocale<Texts>, locale: string, last: string = locale) =>
  fallbacksOf(locale, last)
    .reverse()
    .reduce<TextTree>((others, each) => textsOver(others, (texts.get(each) ?? {}) as TextTree), {}) as Texts;

/** Merges two trees. Where both have a text, that of `texts` counts. */
export const textsOver = (others: TextTree, texts: TextTree): TextTree => {
  const merged = Object.entries(texts).map(([name, value]) => {
    const other = others[name];
    return [name, isTree(value) && isTree(other) ? textsOver(other, value) : value];
  });
  return { ...others, ...Object.fromEntries(merged) };
};

export const isTree = (value: unknown): value is TextTree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
