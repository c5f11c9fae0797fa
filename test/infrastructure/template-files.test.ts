import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PAGES } from '../../src/adapters/http/forms/flow.ts';
import { pageProblems } from '../../src/adapters/http/pages/check-templates.ts';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { EVENT_KINDS } from '../../src/domain/event.ts';
import { MAIL_NAMES } from '../../src/domain/event-table.ts';
import { pages as examined, templates as examinedMails } from '../../src/infrastructure/commands/doctor/settings.ts';
import { MAIL_FILES, openTemplates, PAGE_FILES } from '../../src/infrastructure/template-files.ts';
import { brief, setUpOf } from '../support/doctor.ts';
import { startService } from '../support/http/service.ts';
import { runHere } from '../support/processes/commands.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const BUILT_IN = await PAGE_FILES.files();
const BUILT_IN_LOCALES = [...BUILT_IN.keys()].flatMap((name) => /^(.*)\.json$/.exec(name)?.[1] ?? []);
const LOG_IN = BUILT_IN.get('log-in.html') ?? '';
const LAYOUT = BUILT_IN.get('layout.html') ?? '';

const directoryWith = (files: Readonly<Record<string, string>>): string => {
  const directory = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory.path, path)), { recursive: true });
    writeFileSync(join(directory.path, path), text);
  }
  return directory.path;
};
const NONE = { mailTemplates: null, pageTemplates: null, defaultLocale: 'en' };
const opened = async (files: Readonly<Record<string, string>>) =>
  (await openTemplates({ ...NONE, pageTemplates: directoryWith(files) })).pages();
const openedMails = (mailTemplates: string | null, defaultLocale = 'en') =>
  openTemplates({ ...NONE, mailTemplates, defaultLocale });

type Tree = { readonly [name: string]: string | Tree };
const textsOf = (locale: string): Tree => JSON.parse(BUILT_IN.get(`${locale}.json`) ?? '');
/** Every text of English in another alphabet, as a translation of all would be. */
const mirrored = (tree: Tree): Tree =>
  Object.fromEntries(
    Object.entries(tree).map(([name, value]) => [name, typeof value === 'string' ? `ﺃ ${value}` : mirrored(value)]),
  );
const PERSIAN = { ...mirrored(textsOf('en')), direction: 'rtl' };
const pathsIn = (tree: Tree, above = ''): string[] =>
  Object.entries(tree).flatMap(([name, value]) =>
    typeof value === 'string' ? [`${above}${name}`] : pathsIn(value, `${above}${name}.`),
  );

describe('PAGE_TEMPLATES', () => {
  it('replaces templates and texts of the service one by one', async () => {
    const own = `<h2 class="lead">{{text.new}}</h2>\n${LOG_IN}`;
    const { templates, texts } = await opened({
      'log-in.html': own,
      'en.json': '{ "pages": { "log-in": { "title": "Welcome" } } }',
    });
    expect([templates.get('log-in'), templates.get('layout')]).toEqual([own, LAYOUT]);
    expect(texts.get('en')?.pages['log-in']).toEqual({ ...Object(textsOf('en').pages)['log-in'], title: 'Welcome' });
    // A translation of its own keeps it.
    expect(texts.get('de')?.pages['log-in']?.title).toBe(Object(textsOf('de').pages)['log-in'].title);
  });

  it('adds languages: what they lack is that of the more general one, then English', async () => {
    const { texts, locales } = await opened({
      'fa.json': '{ "direction": "rtl", "pages": { "done": { "title": "تم" } } }',
      'fa-AF.json': '{ "pages": { "done": { "continue": "كمّل" } } }',
    });
    expect(locales).toEqual([...BUILT_IN_LOCALES, 'fa-AF', 'fa']);
    const { done, register } = Object(textsOf('en').pages);
    expect(texts.get('fa-AF')).toMatchObject({
      direction: 'rtl',
      pages: { done: { title: 'تم', continue: 'كمّل' }, register },
    });
    expect(texts.get('en')?.pages).toMatchObject({ done });
  });

  it('may be a mounted volume, written by an editor on Windows: hidden files, links and notes do no harm', async () => {
    const directory = directoryWith({ '..data/log-in.html': `\uFEFF${LOG_IN}`, '.keep': '', 'README.md': '{{x}} <' });
    symlinkSync('..data/log-in.html', join(directory, 'log-in.html'));
    const files = await (await openTemplates({ ...NONE, pageTemplates: directory })).pages();
    expect(files.templates.get('log-in')).toBe(LOG_IN);
  });

  it('has a stylesheet of its own, after that of the service', async () => {
    const env = { PAGE_TEMPLATES: directoryWith({ 'style.css': 'main { border: 0 }' }), BRAND_COLOR: '#ffdd00' };
    const service = await startService(env, { storage: memoryStorage() });
    expect((await service.http.get('/user-pages.css').expect(200)).text).toMatch(
      /#ffdd00;[^}]*\}\n.*main \{ border: 0 \}$/s,
    );
    await expect(openTemplates({ ...NONE, pageTemplates: directoryWith({ 'other.css': '' }) })).rejects.toThrow(
      /other\.css: there is no page/,
    );
  });

  it('is refused with a line for each problem, before the service opens anything', async () => {
    const files = { 'log-in.html': '<p>\n{{form.passkey}}{{nam}}\n</p>', 'de.json': '{\n"direction": "ltr",\n}' };
    const env = { PAGE_TEMPLATES: directoryWith(files) };
    await expect(startService(env, { storage: memoryStorage() })).rejects.toThrow(
      /^The configuration is invalid\.\nPAGE_TEMPLATES: de\.json: it is no JSON: .*line 3.*\nPAGE_TEMPLATES: log-in\.html: line 2: \{\{nam\}\} is unknown here; there are .*\nPAGE_TEMPLATES: log-in\.html: \{\{list\.providers\}\} is missing: the page needs it\nPAGE_TEMPLATES: log-in\.html: \{\{form\.log-in\}\} is missing: the page needs it\nPAGE_TEMPLATES: log-in\.html: \{\{list\.registration\}\} is missing: the page needs it$/,
    );
    await expect(openTemplates({ ...NONE, pageTemplates: '/nowhere/at/all' })).rejects.toThrow(
      /\nPAGE_TEMPLATES: the directory cannot be read: ENOENT/,
    );
  });

  const inLogIn = (markup: string) => ({ 'log-in.html': `${LOG_IN}${markup}` });
  const inTexts = (texts: object, locale = 'de') => ({ [`${locale}.json`]: JSON.stringify(texts) });
  it.each([
    ['a script', inLogIn('<script src="/x.js"></script>'), '<script> may not be in a template'],
    ['a style', inLogIn('<style>p {}</style>'), '<style> may not be'],
    ['a style of an element', inLogIn('<p style="top:0">x</p>'), 'style may not be in <p>'],
    ['a handler', inLogIn('<p\n\nOnClick="x()">x</p>'), 'onclick may not be in <p>'],
    ['a handler in a picture', inLogIn('<img src="/x" onerror="x()">'), 'onerror may not be in <img>'],
    ['a frame', inLogIn('<iframe src="/x"></iframe>'), '<iframe> may not be'],
    ['a vector picture', inLogIn('<svg></svg>'), '<svg> may not be'],
    ['another base', inLogIn('<base href="https://evil.example/">'), '<base> may not be'],
    ['a form', inLogIn('<form action="/x"></form>'), '<form> may not be'],
    ['a field', inLogIn('<input form="register" name="password">'), 'name may not have this value'],
    ['a field of another form', inLogIn('<input form="x" name="extra.x">'), 'form may not have this value'],
    ['a button', inLogIn('<input type="submit">'), 'type may not have this value'],
    ['a field that leads elsewhere', inLogIn('<input formaction="/x">'), 'formaction may not be in <input>'],
    ['a refresh', inLogIn('<meta http-equiv="refresh" content="0">'), 'http-equiv may not be in <meta>'],
    ['a policy of referrers', inLogIn('<meta name="referrer" content="unsafe-url">'), 'name may not have this value'],
    ['a link to a script', inLogIn('<a href="javascript:x()">x</a>'), 'href may not have this value'],
    ['a hidden link to a script', inLogIn('<a href="java&#115;cript:x()">x</a>'), 'href may not have this value'],
    ['a link to another host', inLogIn('<a href="//evil.example">x</a>'), 'href may not have this value'],
    ['a text as an address', inLogIn('<a href="{{text.new}}">x</a>'), 'href may not have this value'],
    ['a text as a path', inLogIn('<a href="/{{text.new}}">x</a>'), 'href may not have this value'],
    ['a link within an address', inLogIn('<a href="https://a.b/?{{link.forgot}}">x</a>'), 'only be the whole href'],
    ['a link as a picture', inLogIn('<img src="{{link.forgot}}">'), 'only be the whole href'],
    ['a link as a text', inLogIn('{{link.forgot}}'), 'only be the whole href'],
    ['a link to no page', inLogIn('<a href="{{link.none}}">x</a>'), '{{link.none}} is unknown here'],
    ['a form of another page', inLogIn('{{form.register}}'), '{{form.register}} is unknown here'],
    [
      'a form in a tag',
      { 'log-in.html': LOG_IN.replace('{{form.log-in}}', '<p title="{{form.log-in}}">x</p>') },
      'in a tag',
    ],
    ['a form twice', inLogIn('{{form.log-in}}'), '{{form.log-in}} is there 2 times'],
    ['half a variable', inLogIn('{{form.log-in}'), '{{ or }} is not part of a variable'],
    ['a comment', inLogIn('<!-- x -->'), 'expected text, or a tag'],
    ['a value without quotes', inLogIn('<p class=x>x</p>'), 'expected text, or a tag'],
    ['a tag that is cut off', inLogIn('<p class="x"'), 'expected text, or a tag'],
    ['an element without an end', inLogIn('<div>'), '<div> has no end'],
    ['ends in the wrong order', inLogIn('<div><p>x</div></p>'), '</div> comes before the end of <p>'],
    ['an end of nothing', inLogIn('</div>'), '</div> ends nothing'],
    ['a layout without the pages', { 'layout.html': LAYOUT.replace('{{content}}', '') }, '{{content}} is missing'],
    [
      'a layout with its styles in the text',
      { 'layout.html': LAYOUT.replace('{{head}}', '').replace('{{logo}}', '{{head}}') },
      '{{head}} has to be in <head>',
    ],
    ['a directory of a language', { 'fr/log-in.html': LOG_IN }, 'fr: expected a file fr.json'],
    ['a page of another name', { 'log-on.html': LOG_IN }, 'there is no page of this name'],
    [
      'a text of another name',
      inTexts({ pages: { 'log-in': { titel: 'x' } } }),
      'pages.log-in.titel: there is no text of this name',
    ],
    ['a text of a name that all objects have', inTexts({ constructor: 'x' }), 'constructor: there is no text'],
    ['markup in a text', inTexts({ notices: { saved: '<b>x</b>' } }), 'notices.saved: a text has no markup'],
    [
      'a text without its placeholder',
      inTexts({ common: { 'last-used': 'x' } }),
      'common.last-used: {time} is missing',
    ],
    [
      'a placeholder of another text',
      inTexts({ notices: { saved: '{time}' } }),
      'notices.saved: {time} is unknown here',
    ],
    ['an empty text', inTexts({ notices: { saved: ' ' } }), 'notices.saved: the text is empty'],
    ['a number', inTexts({ notices: { saved: 1 } }), 'notices.saved: expected a text'],
    ['a text in place of many', inTexts({ common: 'x' }), 'common: expected an object'],
    ['a list', inTexts([]), 'de.json: expected an object'],
    ['another direction', inTexts({ direction: 'up' }), 'direction: expected ltr or rtl'],
    ['a new language without a direction', inTexts({}, 'fa'), 'direction is missing'],
    ['a file that is named by no language', inTexts({}, 'de_AT'), 'expected the name of a language'],
  ])('refuses %s', async (_what, files, problem) => {
    await expect(opened(files)).rejects.toThrow(problem);
  });

  it('accepts the files of the service, and markup that does no harm', async () => {
    await opened(Object.fromEntries(BUILT_IN));
    await opened(
      inLogIn(
        '<hr/><img src="https://cdn.example/x.svg" alt="{{text.new}}" width="20"><DL id="x" data-x="1" hidden><dt>&amp;</dt></DL><a href="mailto:help@example.com" target="_blank">?</a>',
      ),
    );
  });
});

it('the doctor examines PAGE_TEMPLATES as a start does', async () => {
  const findings = async (files: Readonly<Record<string, string>>) =>
    examined(setUpOf({ PAGE_TEMPLATES: directoryWith(files) }));
  expect(await examined(setUpOf({}))).toMatchObject({
    id: 'pages.valid',
    seen: `Pages can be shown in ${BUILT_IN_LOCALES.join(', ')}.`,
  });
  expect(await findings({ 'da.json': '{ "direction": "ltr" }' })).toMatchObject({
    seen: expect.stringContaining('da'),
  });
  expect(brief(await findings({ 'log-in.html': '<b>' }))).toEqual(
    Array.from({ length: 5 }, () => 'problem pages.invalid'),
  );
});

describe('the texts of the service', () => {
  it.each(BUILT_IN_LOCALES)('are all there in %s, with their placeholders', (locale) => {
    expect(pathsIn(textsOf(locale)).toSorted()).toEqual(pathsIn(textsOf('en')).toSorted());
    expect(pageProblems(new Map([[`${locale}.json`, BUILT_IN.get(`${locale}.json`) ?? '']]), BUILT_IN)).toEqual([]);
  });

  it('say what each kind of event is', () => {
    expect(Object.keys(textsOf('en').events ?? {}).toSorted()).toEqual(EVENT_KINDS.toSorted());
  });

  it('can all be in another language and direction', async () => {
    const { texts } = await opened({ 'fa.json': JSON.stringify(PERSIAN) });
    expect(texts.get('fa')).toEqual(PERSIAN);
  });
});

const RESET = ['Hallo von {brand}', 'Hier, {validFor} lang:\n{link}'];
const resetIn = (locale: string, others: object = {}) => ({
  [`${locale}.json`]: JSON.stringify({ ...others, mails: { 'password-reset': RESET } }),
});
const DANISH = { direction: 'ltr', footer: 'Fra {brand}.' };

describe('MAIL_TEMPLATES', () => {
  it('adds texts and languages to those of the service', async () => {
    const directory = directoryWith({ ...resetIn('de'), ...resetIn('da', DANISH) });
    const { mails, locales } = await openedMails(directory, 'fr-CA');
    expect(locales).toEqual([...BUILT_IN_LOCALES, 'da']);
    const { texts } = await mails();
    expect(texts.get('de')?.mails).toMatchObject({ 'password-reset': RESET, invitation: expect.any(Array) });
    expect(texts.get('da')).toEqual({ ...DANISH, mails: { 'password-reset': RESET } });
    expect(texts.get('en')?.mails?.['password-reset']?.[0]).toContain('Reset your password');
  });

  it('is refused with a line for each problem, in an encoding of its own, as a directory of an earlier version, and if it cannot be read', async () => {
    const files = { 'de.json': '{ "mails": { "other": ["x"], "password-reset": ["x", "{nam}"] } }' };
    const env = { MAIL_TEMPLATES: directoryWith(files) };
    await expect(startService(env, { storage: memoryStorage() })).rejects.toThrow(
      /^The configuration is invalid\.\nMAIL_TEMPLATES: de\.json: mails\.other: there is no text of this name\nMAIL_TEMPLATES: de\.json: mails\.password-reset: \{nam\} is unknown here; .*\n.*\{link\} is missing: the mail needs its link$/,
    );
    const inLatin1 = directoryWith({});
    writeFileSync(join(inLatin1, 'de.json'), Buffer.from('{ "footer": "Grüße" }', 'latin1'));
    await expect(openedMails(inLatin1)).rejects.toThrow(/de\.json: it is neither UTF-8/);
    await expect(openedMails(directoryWith({ 'de/password-reset.txt': 'x' }))).rejects.toThrow(
      'MAIL_TEMPLATES: de: expected a file de.json, and no directory: docs/mail-and-pages.md, CHANGELOG.md',
    );
    await expect(openedMails('/nowhere/at/all')).rejects.toThrow(
      /MAIL_TEMPLATES: the directory cannot be read: ENOENT/,
    );
  });

  it('has texts in the default language, or the service does not start', async () => {
    await expect(openedMails(null, 'da')).rejects.toThrow(/\nDEFAULT_LOCALE: there are no mails in this language$/);
    expect((await openedMails(null, 'de-CH')).locales).toEqual(BUILT_IN_LOCALES);
  });

  it('is examined by the doctor as by a start, which says what a new language lacks', async () => {
    const findings = (files: Readonly<Record<string, string>>, env = {}) =>
      examinedMails(setUpOf({ MAIL_TEMPLATES: directoryWith(files), ...env }));
    expect(brief(await findings(resetIn('de')))).toEqual(['ok templates.valid']);
    expect(brief(await examinedMails(setUpOf({ DEFAULT_LOCALE: 'da' })))).toEqual(['problem templates.invalid']);
    expect(brief(await findings({ 'de.json': '{ "footer": "" }' }))).toContain('problem templates.invalid');
    const [valid, incomplete] = [await findings(resetIn('da', DANISH))].flat();
    expect(valid).toMatchObject({
      severity: 'ok',
      seen: `Mails can be written in ${[...BUILT_IN_LOCALES, 'da'].join(', ')}.`,
    });
    expect(incomplete).toMatchObject({ id: 'templates.incomplete', severity: 'note' });
    expect(incomplete?.seen).toMatch(/^da lacks email-verification, .*locale-changed\.$/);
  });
});

describe('npm run templates', () => {
  const templates = (args: readonly string[], env = {}) => runHere(['templates', ...args], env);

  it('shows all pages in all states and all mails, in all languages, with the files and the product of the environment', async () => {
    const directory = directoryWith({ 'fa.json': JSON.stringify(PERSIAN), 'log-in.html': `<p>own</p>${LOG_IN}` });
    const to = join(directoryWith({}), 'sheet.html');
    const ofBrand = { BRAND_NAME: 'Tom & Jerry', BRAND_COLOR: '#123456' };
    const env = { PAGE_TEMPLATES: directory, MAIL_TEMPLATES: directoryWith(resetIn('de-AT')), ...ofBrand };
    expect((await templates(['--to', to], env)).stdout).toMatch(/ has \d+ pages and mails in .*, en, .*, fa, de-AT\./);
    const frames = [...readFileSync(to, 'utf8').matchAll(/ title="(.*?)" srcdoc="(.*?)"/gs)].map(
      ([, title = '', page = '']) => ({ title, page: unescaped(page) }),
    );
    const isOfMail = ({ title }: { readonly title: string }) => / · (?:mail|text of) /.test(title);
    const titles = frames.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
    for (const locale of ['de', 'en', 'fa'])
      for (const page of [...Object.keys(PAGES), 'continue', 'failed', ...MAIL_NAMES.map((name) => `mail ${name}`)])
        expect(titles).toContainEqual(expect.stringMatching(`^${locale} · ${page}: `));
    const pages = frames.filter((frame) => !isOfMail(frame));
    expect(pages.filter(({ page }) => page.includes('<p>own</p>')).length).toBeGreaterThan(3);
    for (const { page } of pages) expect(page).toContain('--button: #123456');
    for (const { page } of frames) {
      expect(page).toContain('Tom &#38; Jerry');
      expect(page).not.toMatch(/<script|\{\{|undefined|\[object/);
    }
    const isPersian = ({ title }: { readonly title: string }) => title.startsWith('fa · ');
    for (const { page } of pages.filter(isPersian)) expect(page).toContain('<html lang="fa" dir="rtl">');
    const ours = frames.find(({ title }) => title === 'de-AT · text of password-reset');
    expect(ours?.page).toMatch(
      /^<pre style="white-space: pre-wrap[^>]*>Hallo von Tom &#38; Jerry\n\nHier, 1 Tag lang:\nhttp:\/\/localhost:3000\//,
    );
    expect((await templates(['--to', to, '--locale', 'en'], env)).stdout).toContain(' pages and mails in en.');
  });

  it('writes the files of the service, which are valid, and overwrites nothing', async () => {
    const directory = join(directoryWith({}), 'own');
    expect((await templates(['eject', directory])).stdout).toMatch(/^The files are in /);
    const own = { mailTemplates: join(directory, 'mails'), pageTemplates: join(directory, 'pages') };
    const { pages, mails } = await openTemplates({ ...NONE, ...own });
    for (const [theirs, ours] of [
      [await pages(), await PAGE_FILES.builtIn()],
      [await mails(), await MAIL_FILES.builtIn()],
    ] as const) {
      expect([theirs.templates, theirs.locales]).toEqual([ours.templates, ours.locales]);
      for (const locale of ours.locales) expect(theirs.texts.get(locale)).toEqual(ours.texts.get(locale));
    }
    expect(await templates(['eject', directory])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^eject: EEXIST/),
    });
  });

  it('makes directories that the service can read as another user, and leaves those that are there as they are', async () => {
    const above = directoryWith({});
    const modeOf = (name: string) => statSync(join(above, name)).mode & 0o777;
    mkdirSync(join(above, 'there', 'mails'), { recursive: true });
    chmodSync(join(above, 'there', 'mails'), 0o700);
    const umask = process.umask(0o077);
    onTestFinished(() => void process.umask(umask));
    for (const name of ['new/own', 'there']) await templates(['eject', join(above, name)]);
    expect(['new', 'new/own', 'new/own/mails', 'new/own/pages', 'there/pages'].map(modeOf)).toEqual(
      Array(5).fill(0o755),
    );
    expect(modeOf('there/mails')).toBe(0o700);
  });

  it.each([
    [['--to', '/nowhere/x', '--locale', 'da'], {}, 'There are no texts in da.'],
    [[], { PAGE_TEMPLATES: '/nowhere' }, 'PAGE_TEMPLATES: the directory cannot be read'],
  ])('refuses %j with %j', async (args, env, message) => {
    expect(await templates(args, env)).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });
});

const unescaped = (text: string): string => text.replaceAll(/&#(\d+);/g, (_all, code) => String.fromCodePoint(code));
