import { describe, expect, it } from 'vitest';
import { mailProblems } from '../../../src/application/mail/check-mails.ts';
import { MAIL_FILES } from '../../../src/infrastructure/template-files.ts';

const BUILT_IN = await MAIL_FILES.files();
const LAYOUT = BUILT_IN.get('layout.html') ?? '';
const RESET = ['Subject at {brand}', 'Hello.', 'Open:\n{link}'];

const problemsOf = (files: Readonly<Record<string, string>>): string[] =>
  mailProblems(new Map(Object.entries(files)), BUILT_IN);
const texts = (tree: unknown, locale = 'en') => ({ [`${locale}.json`]: JSON.stringify(tree) });
const reset = (paragraphs: unknown, locale = 'en') => texts({ mails: { 'password-reset': paragraphs } }, locale);
const change = (...paragraphs: string[]) => texts({ mails: { 'email-change': paragraphs } });
const parts = (tree: unknown) => texts({ parts: tree, mails: { 'password-reset': RESET } });
const layout = (added: string) => ({ 'layout.html': `${LAYOUT}${added}` });

describe('templates of mails', () => {
  it('that are built in have no problem', () => {
    expect(mailProblems(BUILT_IN, BUILT_IN)).toEqual([]);
  });

  it('may have texts of their own, in a variant of a language and in another one', () => {
    expect(problemsOf(reset(RESET))).toEqual([]);
    expect(problemsOf(reset([...RESET, '{happened}'], 'de-AT'))).toEqual([
      expect.stringContaining('{device} is unknown here'),
      expect.stringContaining('{network} is unknown here'),
      expect.stringContaining('{time} is unknown here'),
    ]);
    const danish = { direction: 'ltr', footer: 'De {brand}', parts: { happened: ['Le {time}'] } };
    expect(
      problemsOf(texts({ ...danish, mails: { exported: ['Export', '{happened}', '{resetPage}'] } }, 'da')),
    ).toEqual([]);
    const canadian = texts({ mails: { exported: ['Exportation', '{happened}', '{resetPage}'] } }, 'da-DK');
    expect(problemsOf({ ...texts(danish, 'da'), ...canadian })).toEqual([]);
    expect(problemsOf(layout('<style>p { color: red }</style><p title="{{brand}}">{{subject}}</p>'))).toEqual([]);
  });

  it.each([
    ['an unknown placeholder', reset([...RESET, '{usernam}']), '{usernam} is unknown here; there are {brand}, {link}'],
    ['a placeholder of another mail', reset([...RESET, '{username}']), '{username} is unknown'],
    [
      'a part that a new language lacks',
      reset([...RESET, '{happened}'], 'da'),
      '{happened} is not among the parts of this',
    ],
    ['no link', reset(['Subject', 'Hello.']), '{link} is missing: the mail needs its link'],
    ['a link beside text', reset([...RESET, 'Or {link}']), 'needs a line of its own'],
    ['a link in another address', reset([...RESET, 'https://t.example/?to={link}']), 'needs a line of its own'],
    ['a subject alone', reset(['{brand}']), 'expected the subject and at least one paragraph'],
    ['no list', reset('Subject'), 'expected a list of paragraphs'],
    ['no paragraph', reset([]), 'expected a list of paragraphs'],
    ['a number', reset([...RESET, 1]), 'expected a list of paragraphs'],
    ['an empty paragraph', reset([...RESET, ' ']), 'the text is empty'],
    ['markup', reset([...RESET, '<b>x</b>']), 'a text has no markup'],
    ['a variable in place of a placeholder', reset([...RESET, '{{brand}}']), '{ or } is not part of a placeholder'],
    ['half a placeholder', texts({ footer: '{brand} {brand' }), 'footer: { or } is not part of a placeholder'],
    ['the name of what every object has', reset([...RESET, '{constructor}']), '{constructor} is unknown here'],
    ['a subject of two lines', reset(['A\r\nBcc: eve@example.org', '{link}']), 'the subject is one line'],
    ['two links in a paragraph', reset(['Subject', '{link}\n{link}']), 'needs a line of its own, the last'],
    ['parts that are no tree', parts(null), 'parts: expected an object'],
    ['a part that is no list', parts({ undo: 5 }), 'parts.undo: expected a list of paragraphs'],
    ['a part without the link of its mails', parts({ undo: ['x'] }), 'parts.undo: {undoLink} is missing'],
    [
      'a part with a link beside text',
      parts({ undo: ['https://t.example/?to={undoLink}'] }),
      'parts.undo: {undoLink} needs',
    ],
    ['a part in another', parts({ yours: ['{happened}'] }), 'parts.yours: {happened} is unknown here'],
    [
      'a subject that a client chooses',
      change('For {username}', '{link}'),
      'the subject may have no other than {brand}',
    ],
    ['a footer that is a variable of a mail', texts({ footer: '{brand} {link}' }), 'footer: {link} is unknown here'],
    ['a mail that is not sent', texts({ mails: { 'password-rest': RESET } }), 'mails.password-rest: there is no text'],
    ['a part of another name', texts({ parts: { other: ['x'] } }), 'parts.other: there is no text of this name'],
    ['a language of no name', reset(RESET, 'de_AT'), 'expected the name of a language'],
    ['a new language without its direction', reset(RESET, 'da'), 'direction is missing, since this language is not'],
    ['a new language without its footer', reset(RESET, 'da'), 'footer is missing, since this language is not built in'],
    ['a template besides', { 'password-reset.html': '<p>' }, 'mails have no template but layout.html'],
    ['a layout without its mail', { 'layout.html': '<p>{{brand}}</p>' }, 'expected {{content}} once'],
    ['a layout with a mail in a tag', { 'layout.html': '<p title="{{content}}">' }, 'expected {{content}} once'],
    ['a layout with a mail in a comment', { 'layout.html': '<!-- {{content}} -->' }, 'expected {{content}} once'],
    ['a layout with two mails', layout('{{content}}'), 'expected {{content}} once'],
    ['an unknown variable', layout('{{link}}'), '{{link}} is unknown here; there are {{content}}'],
    ['logic', layout('{{#if x}}'), 'is not part of a variable'],
    ['half a variable', layout('{{brand}'), 'is not part of a variable'],
    ['a script', layout('<script>1</script>'), 'no script'],
  ])('with %s are refused, with the file', (_what, files, problem) => {
    const problems = problemsOf(files);
    expect(problems).toContainEqual(expect.stringContaining(problem));
    for (const each of problems) expect(each.startsWith(`${Object.keys(files)[0]}: `)).toBe(true);
  });
});
