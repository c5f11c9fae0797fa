import { BUILT_IN_LOCALES, canonicalLocale } from '../../domain/locale.ts';
import {
  COMMON_VARIABLES,
  isLinkVariable,
  isTrustedVariable,
  LAYOUT,
  LAYOUT_VARIABLES,
  MAIL_NAMES,
  MAIL_VARIABLES,
  type MailName,
  type TemplateFiles,
} from './kinds.ts';
import { linkOf, partsOf, VARIABLE } from './write-mail.ts';

/**
 * What is wrong with templates, a line each, which begins with the file. Templates have variables and no logic, so that this finds
 * every mistake before a mail is sent.
 */
export const templateProblems = (files: TemplateFiles): string[] => [
  ...[...files].flatMap(([path, text]) => problemsOf(path, text).map((problem) => `${path}: ${problem}`)),
  ...missingLayouts(files),
];

export const localesOf = (files: TemplateFiles): string[] => [
  ...new Set([...files.keys()].filter((path) => path.includes('/')).map((path) => path.split('/')[0] ?? '')),
];

const newLocalesOf = (files: TemplateFiles): string[] =>
  localesOf(files).filter((locale) => !BUILT_IN_LOCALES.some((each) => each === locale.split('-')[0]));

export const missingMails = (files: TemplateFiles): { readonly locale: string; readonly mails: readonly string[] }[] =>
  newLocalesOf(files)
    .map((locale) => ({ locale, mails: MAIL_NAMES.filter((name) => !files.has(`${locale}/${name}.txt`)) }))
    .filter(({ mails }) => mails.length > 0);

/** A language that is not built in would have the layout of another. */
const missingLayouts = (files: TemplateFiles): string[] =>
  newLocalesOf(files).flatMap((locale) =>
    ['txt', 'html']
      .map((kind) => `${locale}/${LAYOUT}.${kind}`)
      .filter((path) => !files.has(path))
      .map((path) => `${path}: missing, since this language is not built in`),
  );

const problemsOf = (path: string, text: string): string[] => {
  const [, locale, name = '', kind] = /^([^/]*)\/([^/]*)\.(txt|html)$/.exec(path) ?? [];
  if (locale === undefined) return ['expected <language>/<mail>.txt or <language>/<mail>.html'];
  if (canonicalLocale(locale) !== locale)
    return [`expected a directory that is named by a language tag, such as de or de-AT`];
  if (name !== LAYOUT && !isMailName(name)) return ['there is no mail of this name: npx tandem mail lists them'];
  const declared = variablesOf(name);
  return [
    ...unknownVariables(text, declared),
    ...(kind === 'html' ? problemsOfHtml(text, declared) : problemsOfText(text, declared, name)),
  ];
};

const isMailName = (name: string): name is MailName => MAIL_NAMES.some((each) => each === name);

const variablesOf = (name: string): readonly string[] => [
  ...COMMON_VARIABLES,
  ...(isMailName(name) ? MAIL_VARIABLES[name] : LAYOUT_VARIABLES),
];

const written = (name: string): string => `{{${name}}}`;
const namesIn = (text: string): string[] => [...text.matchAll(VARIABLE)].map(([, name = '']) => name);
const count = (text: string, part: string): number => text.split(part).length - 1;

const unknownVariables = (text: string, declared: readonly string[]): string[] => {
  const unknown = new Set(namesIn(text).filter((name) => !declared.includes(name)));
  const rest = text.replaceAll(VARIABLE, '');
  return [
    ...[...unknown].map((name) => `${written(name)} is unknown here; there are ${declared.map(written).join(', ')}`),
    ...(rest.includes('{{') || rest.includes('}}') ? ['{{ or }} is not part of a variable such as {{brand}}'] : []),
  ];
};

const linksIn = (declared: readonly string[]): string[] => declared.filter(isLinkVariable);

const missing = (name: string): string => `${written(name)} is missing: the mail needs its link`;

const problemsOfText = (text: string, declared: readonly string[], name: string): string[] => {
  const layout = declared.includes('content');
  if (layout) return problemsOfContent(text);
  const { subject, body } = partsOf(text);
  const lines = body.split('\n');
  const inText = lines.filter((line) => linkOf(line) === null).flatMap(namesIn);
  return [
    ...(subject === '' || !/^\s*[^\n]+\n\s*\n/.test(text.trim())
      ? [`expected the subject in the first line, an empty line, and the text of ${name}`]
      : []),
    ...(namesIn(subject).some((each) => each !== 'brand') ? ['the subject may have no variable but {{brand}}'] : []),
    ...linksIn(declared)
      .filter((link) => !lines.some((line) => linkOf(line) === link))
      .map(missing),
    ...inText
      .filter(isLinkVariable)
      .map((link) => `${written(link)} needs a line of its own: beside other text, it could become another link`),
  ];
};

const problemsOfContent = (text: string): string[] =>
  count(text, written('content')) === 1 ? [] : ['expected {{content}} once'];

/** A link of `<a href="{{link}}">`. Nothing fetches it before somebody clicks. */
const ANCHOR = /<a\s[^<>]*?\bhref="\{\{(\w+)\}\}"[^<>]*>/gi;
const TAG = /<[^<>]*>/g;
const UNREADABLE = /<(script|style|textarea|!--)/i;

const problemsOfHtml = (text: string, declared: readonly string[]): string[] => {
  const links = linksIn(declared);
  const anchored = [...text.matchAll(ANCHOR)].map(([, name = '']) => name);
  const withoutAnchors = text.replaceAll(ANCHOR, (anchor, name: string) =>
    anchor.replace(`href="${written(name)}"`, ''),
  );
  const inTags = [...withoutAnchors.matchAll(TAG)].flatMap(([tag]) => namesIn(tag));
  const hidden = text.split(UNREADABLE).slice(1);
  return [
    ...(declared.includes('content') ? problemsOfContent(text) : []),
    ...links.filter((link) => !anchored.includes(link)).map(missing),
    ...anchored
      .filter((name) => !isLinkVariable(name))
      .map((name) => `${written(name)} is no link: it may not be an href`),
    ...inTags.flatMap((name) => problemOfTag(name)),
    ...(/<(script|base|form|iframe|object|embed|meta[^<>]*refresh)\b/i.test(text)
      ? [
          'no script, base, form, iframe, object, embed or refresh: mail programs drop them, or they change what links do',
        ]
      : []),
    ...(hidden.some((part) => namesIn(part.split(/<\/(?:script|style|textarea)|-->/i)[0] ?? '').length > 0)
      ? ['a style or a comment may have no variable']
      : []),
  ];
};

/** In an attribute, a text of a client could mean something else, and a mail program could fetch a link (with GET), or send its token on. */
const problemOfTag = (name: string): string[] => {
  if (isLinkVariable(name))
    return [
      `${written(name)} may only be the whole href of an <a>, or text: a mail program could fetch it, or another address get its token`,
    ];
  if (name === 'content') return ['{{content}} may not be in a tag'];
  return isTrustedVariable(name) ? [] : [`${written(name)} may not be in a tag, since clients choose it`];
};
