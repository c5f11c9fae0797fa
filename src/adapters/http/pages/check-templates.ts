import { fileProblems, sameText, textProblems } from '../../../application/check-texts.ts';
import { VARIABLE } from '../../../application/templates.ts';
import { PAGES } from '../forms/flow.ts';
import { OTHER_LINKS } from './page-view.ts';

/** Checks templates of pages: a template must neither change what a form does, nor send the URL of the page to another host. */

const ELEMENTS = new Set(
  `html head title meta body a abbr address article aside b bdi bdo blockquote br button caption cite code dd details dfn div dl dt em figcaption figure
  footer h1 h2 h3 h4 h5 h6 header hgroup hr i img input kbd label li main mark nav ol p pre q s samp search section small span strong sub summary sup table
  tbody td tfoot th thead time tr u ul var wbr`.split(/\s+/),
);
/** Elements without an end tag. */
const VOID_ELEMENTS = new Set(['br', 'hr', 'img', 'input', 'meta', 'wbr']);

const ANY_VALUE = /^/;
const NUMBER = /^\d+$/;
/** The start of a URL that a link may have: no `javascript:`, and no path such as `//host`, which is a URL of another host. */
const ALLOWED_URL = /^(?:https:\/\/|mailto:|tel:|#|\/(?![/\\{]))/;

const allOf = (names: string, pattern: RegExp) => names.split(', ').map((name) => [name, pattern] as const);

/** The patterns of the values of attributes, by `element attribute`, or by `attribute` for all elements. `aria-…` and `data-…` may have any value. */
const ATTRIBUTES: ReadonlyMap<string, RegExp> = new Map([
  ...allOf('class, id, title, lang, role, a rel, a target, a download, img alt, th scope, time datetime', ANY_VALUE),
  ...allOf('input value, input autocomplete, label for, meta content', ANY_VALUE),
  ...allOf('td colspan, td rowspan, th colspan, th rowspan, img width, img height, ol start', NUMBER),
  ...allOf('hidden, details open, input required', /^$/),
  ['dir', /^(?:ltr|rtl|auto|\{\{direction\}\})$/],
  ['button type', /^button$/],
  // Fields that an operator adds to the registration form, for a hook.
  ['input name', /^extra\.[\w-]{1,50}$/],
  ['input form', /^register$/],
  ['input type', /^(?:text|checkbox|hidden)$/],
  ['tabindex', /^(?:0|-1)$/],
  ['a href', ALLOWED_URL],
  ['img src', /^(?:https:\/\/|\/(?![/\\{]))/],
  ['meta charset', /^utf-8$/i],
  ['meta name', /^(?:viewport|color-scheme|theme-color|description|robots)$/],
]);

const MARKUP = /<!doctype html>|<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z][a-z-]*(?:="[^"<>]*")?)*)\s*\/?>|\n|[^<>\n]+/giy;
const ATTRIBUTE = /([a-z][a-z-]*)(?:="([^"]*)")?/gi;

/** Variables of the layout whose values may be markup. */
const LAYOUT_MARKUP = ['head', 'logo', 'visitor', 'alert', 'content', 'languages', 'links'];
const OPTIONAL_VARIABLES = /^(?:text\..*|link\..*|title|brand|logo|languages|links)$/;

const isMarkupVariable = (name: string): boolean => /^(?:form|list)\./.test(name) || LAYOUT_MARKUP.includes(name);
const isLink = (name: string): boolean => name.startsWith('link.');
const placeholder = (name: string): string => `{{${name}}}`;
const variablesIn = (text: string): string[] => [...text.matchAll(VARIABLE)].map(([, name = '']) => name);

/** @param builtIn the service's own template, which has all variables that the page needs @param otherVariables variables that the page also has */
const templateProblems = (template: string, builtIn: string, otherVariables: readonly string[]): string[] => {
  const neededVariables = [...new Set(variablesIn(builtIn))];
  const knownVariables = [...new Set([...neededVariables, ...otherVariables])];
  return [...markupProblems(template, knownVariables), ...missingVariables(template, neededVariables)];
};

const missingVariables = (template: string, neededVariables: readonly string[]): string[] => {
  const names = variablesIn(template);
  return neededVariables.flatMap((name) => {
    const count = names.filter((each) => each === name).length;
    if (count > 1 && isMarkupVariable(name))
      return [`${placeholder(name)} is there ${count} times: the page needs it once`];
    return count === 0 && !OPTIONAL_VARIABLES.test(name) ? [`${placeholder(name)} is missing: the page needs it`] : [];
  });
};

/** The problems of a template, each with its line number. The check ends at the first part that it cannot parse. */
const markupProblems = (template: string, knownVariables: readonly string[]): string[] => {
  const problems: string[] = [];
  const openElements: string[] = [];
  let offset = 0;
  const report = (problem: string) => problems.push(`line ${template.slice(0, offset).split('\n').length}: ${problem}`);
  while (offset < template.length) {
    MARKUP.lastIndex = offset;
    const [token = '', slash, tag = '', attributes = ''] = MARKUP.exec(template) ?? [];
    const name = tag.toLowerCase();
    if (token === '') {
      report('expected text, or a tag with values in double quotes, such as <p class="lead">');
      return problems;
    }
    if (name === '') textVariableProblems(token, knownVariables, openElements.at(-1) ?? '').forEach(report);
    else if (!ELEMENTS.has(name)) report(`<${name}> may not be in a template`);
    else if (slash !== '') endTagProblems(name, openElements.pop()).forEach(report);
    else {
      attributeProblems(name, attributes, knownVariables).forEach(report);
      if (!VOID_ELEMENTS.has(name)) openElements.push(name);
    }
    offset += token.length;
  }
  if (openElements.length > 0) report(`<${openElements.at(-1)}> has no end`);
  return problems;
};

const endTagProblems = (name: string, openTag: string | undefined): string[] => {
  if (openTag === name) return [];
  return [openTag === undefined ? `</${name}> ends nothing` : `</${name}> comes before the end of <${openTag}>`];
};

const unknownVariables = (text: string, knownVariables: readonly string[]): string[] => [
  ...variablesIn(text)
    .filter((name) => !knownVariables.includes(name))
    .map((name) => {
      const [kind = ''] = name.split('.');
      const ofSameKind = knownVariables.filter((each) => each.split('.')[0] === kind && name.includes('.'));
      const others = ofSameKind.length > 0 ? ofSameKind : knownVariables.filter((each) => !each.includes('.'));
      return `${placeholder(name)} is unknown here; there are ${others.map(placeholder).join(', ')}`;
    }),
  ...(/\{\{|\}\}/.test(text.replaceAll(VARIABLE, '')) ? ['{{ or }} is not part of a variable such as {{title}}'] : []),
];

const textVariableProblems = (text: string, knownVariables: readonly string[], parent: string): string[] => [
  ...unknownVariables(text, knownVariables),
  ...variablesIn(text).flatMap((name) => {
    if (isLink(name)) return [`${placeholder(name)} may only be the whole href of an <a>`];
    if (name === 'head') return parent === 'head' ? [] : ['{{head}} has to be in <head>'];
    return isMarkupVariable(name) && ['html', 'head', 'title', 'a'].includes(parent)
      ? [`${placeholder(name)} may not be in <${parent}>`]
      : [];
  }),
];

const attributeProblems = (element: string, attributes: string, knownVariables: readonly string[]): string[] =>
  [...attributes.matchAll(ATTRIBUTE)].flatMap(([, writtenName = '', value = '']) => {
    const name = writtenName.toLowerCase();
    const extension = /^(?:aria|data)-/.test(name) ? ANY_VALUE : undefined;
    const pattern = ATTRIBUTES.get(`${element} ${name}`) ?? ATTRIBUTES.get(name) ?? extension;
    if (pattern === undefined) return [`${name} may not be in <${element}>`];
    const variables = variablesIn(value);
    const isHref = element === 'a' && name === 'href' && variables.some(isLink) && /^\{\{[\w.-]+\}\}$/.test(value);
    if (isHref) return unknownVariables(value, knownVariables);
    return [
      ...unknownVariables(value, knownVariables),
      ...variables.filter(isLink).map((each) => `${placeholder(each)} may only be the whole href of an <a>`),
      ...variables.filter(isMarkupVariable).map((each) => `${placeholder(each)} may not be in a tag`),
      ...(pattern.test(value) ? [] : [`${name} may not have this value`]),
    ];
  });

const LINK_VARIABLES = [...Object.keys(PAGES), ...OTHER_LINKS].map((name) => `link.${name}`);

type TemplateFiles = ReadonlyMap<string, string>;

/** The problems of an operator's files of templates and texts. Each begins with the name of its file. @param builtIn the service's own files */
export const pageProblems = (ownFiles: TemplateFiles, builtIn: TemplateFiles): string[] => {
  const { pages = {}, common = {} } = JSON.parse(builtIn.get('en.json') ?? '{}');
  return fileProblems(ownFiles, builtIn, {
    template(text, name) {
      if (name === 'style.css') return [];
      const original = builtIn.get(`${name}.html`);
      if (original === undefined) return ['there is no page of this name: npx tandem templates eject DIR writes all'];
      // The layout, and pages that are not in PAGES, have only the variables of their own template.
      if (!(name in PAGES)) return templateProblems(text, original, []);
      const texts = Object.keys({ ...common, ...pages[name] }).map((each) => `text.${each}`);
      return templateProblems(text, original, ['title', ...texts, ...LINK_VARIABLES]);
    },
    texts: (texts, english) => textProblems(texts, english, sameText),
    required: ['direction'],
  });
};
