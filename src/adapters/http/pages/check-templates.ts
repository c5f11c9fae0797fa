import { fileProblems, sameText, textProblems } from '../../../application/check-texts.ts';
import { VARIABLE } from '../../../application/templates.ts';
import { PAGES } from '../forms/flow.ts';
import { OTHER_LINKS } from './page-view.ts';

/**
 * Checks the templates of pages. Only elements and attributes that can do no harm are allowed, so that a template can neither change what a form
 * does, nor send the address of the page elsewhere.
 */

const ELEMENTS = new Set(
  `html head title meta body a abbr address article aside b bdi bdo blockquote br button caption cite code dd details dfn div dl dt em figcaption figure
  footer h1 h2 h3 h4 h5 h6 header hgroup hr i img input kbd label li main mark nav ol p pre q s samp search section small span strong sub summary sup table
  tbody td tfoot th thead time tr u ul var wbr`.split(/\s+/),
);
/** Elements without an end tag. */
const VOID = new Set(['br', 'hr', 'img', 'input', 'meta', 'wbr']);

const ANYTHING = /^/;
const NUMBER = /^\d+$/;
/** No `javascript:`, and no path such as `//host`. */
const ADDRESS = /^(?:https:\/\/|mailto:|tel:|#|\/(?![/\\{]))/;

const each = (names: string, form: RegExp) => names.split(', ').map((name) => [name, form] as const);

/** The forms of the values of attributes, by `element attribute`, or by `attribute` for all elements. */
const ATTRIBUTES: ReadonlyMap<string, RegExp> = new Map([
  ...each('class, id, title, lang, role, a rel, a target, a download, img alt, th scope, time datetime', ANYTHING),
  ...each('input value, input autocomplete, label for, meta content', ANYTHING),
  ...each('td colspan, td rowspan, th colspan, th rowspan, img width, img height, ol start', NUMBER),
  ...each('hidden, details open, input required', /^$/),
  ['dir', /^(?:ltr|rtl|auto|\{\{direction\}\})$/],
  ['button type', /^button$/],
  // Fields of the registration for a hook.
  ['input name', /^extra\.[\w-]{1,50}$/],
  ['input form', /^register$/],
  ['input type', /^(?:text|checkbox|hidden)$/],
  ['tabindex', /^(?:0|-1)$/],
  ['a href', ADDRESS],
  ['img src', /^(?:https:\/\/|\/(?![/\\{]))/],
  ['meta charset', /^utf-8$/i],
  ['meta name', /^(?:viewport|color-scheme|theme-color|description|robots)$/],
]);

const TOKEN = /<!doctype html>|<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z][a-z-]*(?:="[^"<>]*")?)*)\s*\/?>|\n|[^<>\n]+/giy;
const ATTRIBUTE = /([a-z][a-z-]*)(?:="([^"]*)")?/gi;

/** Parts of the layout that are markup. */
const LAYOUT_MARKUP = ['head', 'logo', 'visitor', 'alert', 'content', 'languages', 'links'];
/** What a template may leave out. */
const OPTIONAL = /^(?:text\..*|link\..*|title|brand|logo|languages|links)$/;

const isMarkup = (name: string): boolean => /^(?:form|list)\./.test(name) || LAYOUT_MARKUP.includes(name);
const isLink = (name: string): boolean => name.startsWith('link.');
const placeholder = (name: string): string => `{{${name}}}`;
const namesIn = (text: string): string[] => [...text.matchAll(VARIABLE)].map(([, name = '']) => name);

/** @param builtIn the service's own template, which has all that the page needs @param others further variables of the page */
const templateProblems = (template: string, builtIn: string, others: readonly string[]): string[] => {
  const needed = [...new Set(namesIn(builtIn))];
  return [...problemsOfMarkup(template, [...new Set([...needed, ...others])]), ...missing(template, needed)];
};

const missing = (template: string, needed: readonly string[]): string[] => {
  const names = namesIn(template);
  return needed.flatMap((name) => {
    const count = names.filter((each) => each === name).length;
    if (count > 1 && isMarkup(name)) return [`${placeholder(name)} is there ${count} times: the page needs it once`];
    return count === 0 && !OPTIONAL.test(name) ? [`${placeholder(name)} is missing: the page needs it`] : [];
  });
};

/** Texts with the number of the line. A part that is not understood ends the check. */
const problemsOfMarkup = (template: string, known: readonly string[]): string[] => {
  const problems: string[] = [];
  const open: string[] = [];
  let at = 0;
  const say = (problem: string) => problems.push(`line ${template.slice(0, at).split('\n').length}: ${problem}`);
  while (at < template.length) {
    TOKEN.lastIndex = at;
    const [token = '', slash, tag = '', attributes = ''] = TOKEN.exec(template) ?? [];
    const name = tag.toLowerCase();
    if (token === '') {
      say('expected text, or a tag with values in double quotes, such as <p class="lead">');
      return problems;
    }
    if (name === '') problemsOfText(token, known, open.at(-1) ?? '').forEach(say);
    else if (!ELEMENTS.has(name)) say(`<${name}> may not be in a template`);
    else if (slash !== '') problemsOfEnd(name, open.pop()).forEach(say);
    else {
      problemsOfAttributes(name, attributes, known).forEach(say);
      if (!VOID.has(name)) open.push(name);
    }
    at += token.length;
  }
  if (open.length > 0) say(`<${open.at(-1)}> has no end`);
  return problems;
};

const problemsOfEnd = (name: string, open: string | undefined): string[] => {
  if (open === name) return [];
  return [open === undefined ? `</${name}> ends nothing` : `</${name}> comes before the end of <${open}>`];
};

const unknownVariables = (text: string, known: readonly string[]): string[] => [
  ...namesIn(text)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const [kind = ''] = name.split('.');
      const alike = known.filter((each) => each.split('.')[0] === kind && name.includes('.'));
      const others = alike.length > 0 ? alike : known.filter((each) => !each.includes('.'));
      return `${placeholder(name)} is unknown here; there are ${others.map(placeholder).join(', ')}`;
    }),
  ...(/\{\{|\}\}/.test(text.replaceAll(VARIABLE, '')) ? ['{{ or }} is not part of a variable such as {{title}}'] : []),
];

const problemsOfText = (text: string, known: readonly string[], parent: string): string[] => [
  ...unknownVariables(text, known),
  ...namesIn(text).flatMap((name) => {
    if (isLink(name)) return [`${placeholder(name)} may only be the whole href of an <a>`];
    if (name === 'head') return parent === 'head' ? [] : ['{{head}} has to be in <head>'];
    return isMarkup(name) && ['html', 'head', 'title', 'a'].includes(parent)
      ? [`${placeholder(name)} may not be in <${parent}>`]
      : [];
  }),
];

const problemsOfAttributes = (element: string, attributes: string, known: readonly string[]): string[] =>
  [...attributes.matchAll(ATTRIBUTE)].flatMap(([, given = '', value = '']) => {
    const name = given.toLowerCase();
    const own = /^(?:aria|data)-/.test(name) ? ANYTHING : undefined;
    const allowed = ATTRIBUTES.get(`${element} ${name}`) ?? ATTRIBUTES.get(name) ?? own;
    if (allowed === undefined) return [`${name} may not be in <${element}>`];
    const variables = namesIn(value);
    const isHref = element === 'a' && name === 'href' && variables.some(isLink) && /^\{\{[\w.-]+\}\}$/.test(value);
    if (isHref) return unknownVariables(value, known);
    return [
      ...unknownVariables(value, known),
      ...variables.filter(isLink).map((each) => `${placeholder(each)} may only be the whole href of an <a>`),
      ...variables.filter(isMarkup).map((each) => `${placeholder(each)} may not be in a tag`),
      ...(allowed.test(value) ? [] : [`${name} may not have this value`]),
    ];
  });

const LINKS = [...Object.keys(PAGES), ...OTHER_LINKS].map((name) => `link.${name}`);

type Files = ReadonlyMap<string, string>;

/** The problems of files of templates and texts, as texts that begin with the name of the file. @param builtIn the files of the service */
export const pageProblems = (own: Files, builtIn: Files): string[] => {
  const { pages = {}, common = {} } = JSON.parse(builtIn.get('en.json') ?? '{}');
  return fileProblems(own, builtIn, {
    ofTemplate(text, name) {
      if (name === 'style.css') return [];
      const ofService = builtIn.get(`${name}.html`);
      if (ofService === undefined) return ['there is no page of this name: npx tandem templates eject DIR writes all'];
      // The layout and pages without forms of their own have no others.
      if (!(name in PAGES)) return templateProblems(text, ofService, []);
      const texts = Object.keys({ ...common, ...pages[name] }).map((each) => `text.${each}`);
      return templateProblems(text, ofService, ['title', ...texts, ...LINKS]);
    },
    ofTexts: (texts, english) => textProblems(texts, english, sameText),
    required: ['direction'],
  });
};
