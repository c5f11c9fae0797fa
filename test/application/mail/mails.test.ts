// Proves mail-2
import { describe, expect, it } from 'vitest';
import { placeholdersIn } from '../../../src/application/check-texts.ts';
import {
  isLinkVariable,
  isTrustedVariable,
  type MailText,
  type MailTexts,
  type MailValue,
  writeMail,
} from '../../../src/application/mail/write-mail.ts';
import { MAIL_NAMES, type MailName, variablesOf } from '../../../src/domain/event-table.ts';
import { MESSAGE_KINDS } from '../../../src/domain/message.ts';
import { madeUpValues } from '../../../src/infrastructure/commands/templates/views.ts';
import { MAIL_FILES } from '../../../src/infrastructure/template-files.ts';

const BRAND = 'auth.example.com';
const PAGES = 'https://auth.example.com/account';

const HOSTILE: readonly string[] = [
  'http://evil.example/marker',
  'Visit evil.example marker',
  '"><a href="https://evil.example">marker</a><img src=x onerror=alert(1)>',
  "' onmouseover='marker' <script>marker</script> &lt;b&gt; `marker`",
  'marker\r\nBcc: eve@evil.example\r\n\r\nA new body',
  'marker\u202e\u200b.example\0\x1b]8;;http://evil.example\x07',
  `marker${'x'.repeat(5_000)}`,
  `marker ${'word '.repeat(2_000)}`,
  '{{marker}} {{brand}} {{link}} %marker% =?utf-8?q?marker?=',
];

const templates = await MAIL_FILES.builtIn();

type Values = Readonly<Record<string, MailValue>>;

const write = (
  template: MailName,
  locale: string | null,
  values: Values = madeUpValues(template, PAGES),
  brand = BRAND,
) => writeMail(templates, { brand, defaultLocale: 'en' }, { template, values, locale });

/** The values of a mail, in which everything that clients choose is this text. */
const chosen = (template: MailName, text: string): Values => {
  const isChosen = (value: MailValue, name: string) =>
    !isTrustedVariable(name) && (typeof value === 'string' || Array.isArray(value));
  return Object.fromEntries(
    Object.entries(madeUpValues(template, PAGES)).map(([name, value]) => {
      if (!isChosen(value, name)) return [name, value];
      return [name, typeof value === 'string' ? text : ['A phone', text]];
    }),
  );
};

const unescaped = (markup: string): string =>
  markup.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
/** The tags, which what a client chooses must not change. */
const tagsOf = (markup: string): string[] => markup.match(/<[^>]*>/g) ?? [];
const hrefsOf = (markup: string): string[] =>
  [...markup.matchAll(/ href="([^"]*)"/g)].map(([, address = '']) => unescaped(address));
const wordsOf = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
const linksOf = (template: MailName): string[] =>
  variablesOf(template)
    .filter(isLinkVariable)
    .map((name) => `${madeUpValues(template, PAGES)[name]}`);

/** What a mail shows for its placeholders. */
const SHOWS: Readonly<Record<string, string>> = {
  time: '22, 2026',
  device: 'Firefox 153 on Linux',
  network: '203.0.113.0/24',
  code: '48151623',
  username: '"ada"',
  newEmail: 'a***[@]example[.]org',
  undoUntil: 'November 22, 2026',
  passkeys: 'Passkeys: "Phone", "Security key"',
  apps: 'Authenticator apps: 1',
  signIns: 'Sign-ins: "google ada[@]gmail[.]com"',
};
/** What it says besides, if it is more than what to do if it was somebody else. */
const SAYS: Partial<Record<MailName, readonly string[]>> = {
  'password-reset': ['1 day', 'If it was not you, you can ignore this message'],
  'login-code': ['Tell nobody this code'],
  'confirmation-code': ['Tell nobody this code'],
  'email-verification': ['1 day', 'If you did not register'],
  'address-taken': ['log in', 'If it was not you'],
  invitation: ['invited', '1 day', 'you can ignore this message'],
  'email-change': ['1 day', 'If it is not your account'],
  'email-changed': ['7 days', 'If it was not you'],
  'email-change-final': [],
  'email-change-undone': [],
  'password-was-reset': ['remove them', 'does not come back by itself', 'If it was not you'],
  'password-removed': ['which nobody had proven before', 'If it was not you'],
  'locale-changed': ['the last mail in the former', 'If it was not you'],
  'new-device': ['It was not me'],
  'token-replayed': ['log in again', 'connection'],
  'device-unproven': ['log in again', 'cookie'],
  'passkey-removed': ['Undo the change', 'does not come back'],
  'passkey-copy-suspected': ['not your device', 'remove this passkey'],
  'identity-unlinked': ['Undo the change', 'does not come back'],
  'second-factor-removed': ['Undo the change', 'the password alone', 'does not come back'],
  'password-too-long': ['72 bytes', 'If it was not you'],
  'password-leaked': ['a public list of leaked passwords', 'If it was not you'],
  'recovery-code-used': ['If it was not you', 'make new recovery codes'],
  'factors-changed-again': ['If it was not you', 'the first such change'],
  'factors-undone': ['are removed', 'no longer works'],
};

it('every kind of message that is sent has a template', () => {
  for (const kind of MESSAGE_KINDS.filter((each) => !each.endsWith('-request'))) expect(MAIL_NAMES).toContain(kind);
});

it.each(MAIL_NAMES)('the mail %s says in English what has happened, and what to do', (template) => {
  const shown = variablesOf(template).map((name) => SHOWS[name] ?? '');
  const said = SAYS[template] ?? [
    'If it was not you',
    ...(variablesOf(template).includes('undoLink') ? ['Undo the change'] : []),
  ];
  for (const words of [...shown, ...said]) expect(wordsOf(write(template, null).text)).toContain(words);
});

const ALL = templates.locales.flatMap((locale) => MAIL_NAMES.map((template) => ({ template, locale })));

describe.each(ALL)('the mail $template in $locale', ({ template, locale }) => {
  const usual: MailText = write(template, locale);
  const links = linksOf(template);

  it('says the same in text and in HTML, in its language, names the product, and has its links and no other', () => {
    const [, body = ''] = usual.html.split('</head>');
    const shown = wordsOf(unescaped(body.replaceAll(/<[^>]*>/g, ' ')));
    const text = usual.text
      .split('\n')
      .map((line) => (links.includes(line) ? '' : line))
      .join(' ');
    const letters = (words: string) => words.replaceAll(/[\s:：]/g, '');
    expect(letters(shown)).toBe(letters(BRAND + text));
    for (const part of [usual.subject, usual.text, usual.html]) expect(part).toContain(BRAND);
    expect(usual.html).toContain(`<html lang="${locale}" dir="${templates.texts.get(locale)?.direction}">`);
    expect(unescaped(usual.html)).toContain(`<title>${usual.subject}</title>`);
    expect(`${usual.subject}${usual.text}${body}`).not.toMatch(/[{}]|undefined|—/);
    expect(hrefsOf(usual.html)).toEqual(links);
    expect(usual.text.split('\n').filter((line) => line.includes('://'))).toEqual(links);
  });

  it('is not changed by what clients choose, except for the words, and has lines of 78 characters, except for links', () => {
    for (const hostile of ['usual', ...HOSTILE]) {
      const mail = write(template, locale, chosen(template, hostile));
      expect(mail.text.split('\n').filter((line) => line.length > 78 && !links.includes(line))).toEqual([]);
      expect(mail.subject).toBe(usual.subject);
      expect(tagsOf(mail.html)).toEqual(tagsOf(usual.html));
      expect(hrefsOf(mail.html)).toEqual(links);
      const text = mail.text.replaceAll(/[\u2068\u2069]/g, '');
      const words = [...links, BRAND].reduce((rest, ours) => rest.replaceAll(ours, ''), text);
      expect(words).not.toMatch(/\p{L}\.\p{L}|:\/\/|\w@\w|[^\P{C}\n]/u);
      expect(mail.text.length).toBeLessThan(usual.text.length + 1_000);
    }
  });

  it('names the product, and not the host', () => {
    const { subject, text } = write(
      template,
      locale,
      madeUpValues(template, 'https://login.example.net'),
      'Acme & Sons',
    );
    expect(subject).toContain('Acme & Sons');
    expect(text.replaceAll('https://login.example.net', '')).not.toContain('example.net');
  });
});

describe.each(templates.locales)('the mails in %s', (locale) => {
  const mailsIn = (each: string) => templates.texts.get(each)?.mails ?? expect.unreachable();
  const english = mailsIn('en');

  it('are all there, and say no mail in the words of English', () => {
    expect(Object.keys(mailsIn(locale))).toEqual(Object.keys(english));
    const paragraphs = Object.values(english)
      .flat()
      .filter((text) => /[a-z]{2} [a-z]{2}/.test(text));
    if (locale !== 'en')
      expect(
        Object.values(mailsIn(locale))
          .flat()
          .filter((text) => paragraphs.includes(text)),
      ).toEqual([]);
  });

  it('have the placeholders of English', () => {
    const of = (mails: MailTexts['mails']) => MAIL_NAMES.map((name) => [name, placeholdersIn(mails[name].join('\n'))]);
    expect(of(mailsIn(locale) as MailTexts['mails'])).toEqual(of(english as MailTexts['mails']));
  });
});

it('in a language from right to left, what is filled in keeps its direction, and codes and links are copied as they are', () => {
  const { text, html } = write('login-code', 'he');
  expect(text).toContain('\u2068203.0.113.0/24\u2069');
  expect(text.split('\n')).toEqual(expect.arrayContaining(['48151623', ...linksOf('login-code')]));
  expect(html).toContain('dir="rtl"');
  expect(write('login-code', 'de').text).not.toMatch(/[\u2068\u2069]/);
});

it.each([
  ['fr', 'Saisir le code'],
  ['zh-CN', '输入验证码'],
])('the label of a link ends without its colon in %s', (locale, label) => {
  expect(write('login-code', locale).html).toContain(`>${label}</a>`);
});

it('a notice has a dash where the device or the network is not known', () => {
  const values = { ...madeUpValues('new-device', PAGES), device: [], network: '' };
  expect(write('new-device', null, values).text).toContain('\nDevice: —\nNetwork: —\n');
});
