import { describe, expect, it } from 'vitest';
import { templateProblems } from '../../../src/application/mail/check-templates.ts';
import { builtInTemplates } from '../../../src/infrastructure/mail/template-files.ts';

const RESET = 'en/password-reset.txt';
const HTML = 'en/password-reset.html';
const TEXT = 'Subject at {{brand}}\n\nHello.\n\nOpen:\n{{link}}\n';
const MARKUP = '<p>Hello {{brand}}. <a class="b" href="{{link}}">Open</a></p>';

const problemsOf = (path: string, text: string): string[] => templateProblems(new Map([[path, text]]));

describe('templates', () => {
  it('that are built in have no problem', async () => {
    expect(templateProblems(await builtInTemplates())).toEqual([]);
  });

  it('with an allowed text and an allowed HTML have no problem', () => {
    expect(problemsOf(RESET, TEXT)).toEqual([]);
    expect(problemsOf(HTML, MARKUP)).toEqual([]);
    expect(problemsOf('de-AT/password-reset.txt', TEXT)).toEqual([]);
    expect(problemsOf(HTML, '<p title="{{brand}}">{{validFor}} {{link}} <a href="{{link}}">{{link}}</a></p>')).toEqual(
      [],
    );
  });

  it.each([
    [
      'an unknown variable',
      RESET,
      `${TEXT}{{usernam}}`,
      '{{usernam}} is unknown here; there are {{brand}}, {{link}}, {{validFor}}',
    ],
    ['a variable of another mail', RESET, `${TEXT}{{username}}`, '{{username}} is unknown'],
    ['logic', RESET, `${TEXT}{{#if link}}x{{/if}}`, 'is not part of a variable'],
    ['half a variable', RESET, `${TEXT}{{brand}`, 'is not part of a variable'],
    ['no link', RESET, 'Subject\n\nHello.\n', '{{link}} is missing'],
    ['a link beside text', RESET, `${TEXT}\nOr {{link}}\n`, 'needs a line of its own'],
    ['a link in another address', RESET, `${TEXT}\nhttps://t.example/?to={{link}}\n`, 'needs a line of its own'],
    ['no subject', RESET, '{{link}}\n', 'expected the subject in the first line'],
    ['no line below the subject', RESET, 'Subject\nHello.\n\n{{link}}\n', 'expected the subject in the first line'],
    [
      'a subject that a client chooses',
      'en/email-change.txt',
      'For {{username}}\n\n{{link}}\n',
      'the subject may have',
    ],
    ['no link in HTML', HTML, '<p>Hello.</p>', '{{link}} is missing'],
    ['a link in HTML that nobody can click', HTML, '<p>{{link}}</p>', '{{link}} is missing'],
    ['a picture that fetches the link', HTML, `${MARKUP}<img src="{{link}}">`, 'a mail program could fetch it'],
    ['a form that fetches the link', HTML, `${MARKUP}<form action="{{link}}">`, 'a mail program could fetch it'],
    ['a stylesheet that fetches the link', HTML, `${MARKUP}<link href="{{link}}">`, 'a mail program could fetch it'],
    ['a link in another address in HTML', HTML, `${MARKUP}<a href="https://t.example/?u={{link}}">x</a>`, 'its token'],
    ['a link without quotes', HTML, `${MARKUP}<a href={{link}}>x</a>`, 'its token'],
    ['an address that is no link', HTML, `${MARKUP}<a href="{{brand}}">x</a>`, '{{brand}} is no link'],
    [
      'an attribute that a client chooses',
      'en/email-change.html',
      '<a href="{{link}}" title="{{username}}">x</a>',
      'clients choose it',
    ],
    ['a script', HTML, `${MARKUP}<script>1</script>`, 'no script'],
    ['a variable in a style', HTML, `${MARKUP}<style>a { color: {{brand}} }</style>`, 'a style or a comment'],
    ['a variable in a comment', HTML, `${MARKUP}<!-- {{brand}} -->`, 'a style or a comment'],
    ['a layout without its mail', 'en/layout.html', '<p>{{brand}}</p>', 'expected {{content}} once'],
    ['a layout with a mail in a tag', 'en/layout.html', '<p title="{{content}}">', '{{content}} may not be in a tag'],
    ['a mail that is not sent', 'en/password-rest.txt', TEXT, 'there is no mail of this name'],
    ['another kind of file', 'en/password-reset.md', TEXT, 'expected <language>/<mail>.txt'],
    ['a file outside of a language', 'password-reset.txt', TEXT, 'expected <language>/<mail>.txt'],
    ['a directory that is no language', 'de_AT/password-reset.txt', TEXT, 'named by a language tag'],
    ['a directory that is not canonical', 'de-at/password-reset.txt', TEXT, 'named by a language tag'],
    [
      'a new language without its layout',
      'fr/password-reset.txt',
      TEXT,
      'missing, since this language is not built in',
    ],
  ])('with %s are refused, with the file', (_what, path, text, problem) => {
    const problems = problemsOf(path, text);
    expect(problems).toContainEqual(expect.stringContaining(problem));
    for (const each of problems) expect(each.startsWith(`${path.split('/')[0]}`)).toBe(true);
  });

  it('may add a language with its layout', () => {
    const files = new Map([
      ['fr/layout.txt', '{{content}}\n'],
      ['fr/layout.html', '<main>{{content}}</main>'],
      ['fr/password-reset.txt', TEXT],
    ]);
    expect(templateProblems(files)).toEqual([]);
  });
});
