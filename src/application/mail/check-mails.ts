import { type MailName, variablesOf } from '../../domain/event-table.ts';
import { fileProblems, placeholder, placeholdersIn, plainProblems, sameText, textProblems } from '../check-texts.ts';
import { type TextTree, VARIABLE } from '../templates.ts';
import { isLinkVariable, LAYOUT_VARIABLES, linkOf, type MailTexts, subjectAndBody } from './write-mail.ts';

export const mailProblems = (files: ReadonlyMap<string, string>, builtIn: ReadonlyMap<string, string>): string[] =>
  fileProblems(files, builtIn, {
    template: (text, name) => (name === 'layout' ? layoutProblems(text) : ['mails have no template but layout.html']),
    texts: textsProblems,
    required: ['direction', 'footer'],
  });

const isList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');

/** Checks the texts of a language. A part is also checked in the mails that contain it, which may be in other files. */
const textsProblems = (texts: TextTree, english: TextTree, whole: TextTree): string[] => {
  const lists = (tree: unknown): Readonly<Record<string, readonly string[]>> =>
    Object.fromEntries(Object.entries(tree ?? {}).filter(([, list]) => isList(list)));
  const [parts, mails] = [lists(whole.parts), Object.entries(lists(whole.mails))];
  const lacking = Object.keys(english.parts ?? {}).filter((each) => !Object.hasOwn(parts, each));
  const check = (name: string, mail: readonly string[]) => problemsOfMail(mail, name as MailName, { parts, lacking });
  return textProblems(texts, english, (text, model, path) => {
    if (path === 'footer') return sameText(text, model, path);
    if (!isList(text)) return ['expected a list of paragraphs'];
    const [kind, name = ''] = path.split('.');
    const problems =
      kind === 'mails'
        ? check(name, text)
        : mails
            .filter(([, mail]) => mail.some((each) => each.trim() === placeholder(name)))
            .flatMap(([each, mail]) => check(each, mail));
    return [...text.flatMap((each) => plainProblems(each)), ...new Set(problems)];
  });
};

type MailRules = {
  readonly parts: MailTexts['parts'];
  /** The parts of the English mails that this language lacks. */
  readonly lacking: readonly string[];
};

const problemsOfMail = (mail: readonly string[], name: MailName, { parts, lacking }: MailRules): string[] => {
  const { subject, body } = subjectAndBody(mail, parts);
  const allowed: readonly string[] = ['brand', ...variablesOf(name)];
  const links = body.map((paragraph) => linkOf(paragraph.split('\n').at(-1) ?? ''));
  const texts = body.map((paragraph, at) => (links[at] === null ? paragraph : paragraph.replace(/.*$/, '')));
  const unknown = placeholdersIn([subject, ...body].join('\n')).filter((each) => !allowed.includes(each));
  const known = [...allowed, ...Object.keys(parts)].map(placeholder).join(', ');
  return [
    ...(body.length === 0 ? ['expected the subject and at least one paragraph'] : []),
    ...(/\p{Cc}/u.test(subject) ? ['the subject is one line'] : []),
    ...(placeholdersIn(subject).some((each) => each !== 'brand') ? ['the subject may have no other than {brand}'] : []),
    ...unknown.map((each) =>
      lacking.includes(each)
        ? `${placeholder(each)} is not among the parts of this language`
        : `${placeholder(each)} is unknown here; there are ${known}`,
    ),
    ...allowed
      .filter((each) => isLinkVariable(each) && !links.includes(each))
      .map((each) => `${placeholder(each)} is missing: the mail needs its link`),
    ...placeholdersIn(texts.join('\n'))
      .filter(isLinkVariable)
      .map(
        (each) =>
          `${placeholder(each)} needs a line of its own, the last of its paragraph: beside other text, it could become another link`,
      ),
  ];
};

const FORBIDDEN_TAGS = /<(?:script|base|form|iframe|object|embed|meta[^<>]*refresh)\b/i;
/** The parts of a layout in which a variable would not be shown as text. */
const HIDDEN_PARTS = /<!--.*?(?:-->|$)|<(style|textarea|title)\b.*?(?:<\/\1>|$)|<[^<>]*>/gis;

const layoutProblems = (layout: string): string[] => {
  const names = [...layout.matchAll(VARIABLE)].map(([, name = '']) => name);
  const allowed: readonly string[] = LAYOUT_VARIABLES;
  const known = allowed.map((each) => `{{${each}}}`).join(', ');
  const contents = layout.replaceAll(HIDDEN_PARTS, '').split('{{content}}').length - 1;
  return [
    ...names.filter((each) => !allowed.includes(each)).map((each) => `{{${each}}} is unknown here; there are ${known}`),
    ...(/\{\{|\}\}/.test(layout.replaceAll(VARIABLE, '')) ? ['{{ or }} is not part of a variable'] : []),
    ...(contents === 1 && names.filter((each) => each === 'content').length === 1
      ? []
      : ['expected {{content}} once, as text']),
    ...(FORBIDDEN_TAGS.test(layout)
      ? [
          'no script, base, form, iframe, object, embed or refresh: mail programs drop them, or they change what links do',
        ]
      : []),
  ];
};
