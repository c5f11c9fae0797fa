import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderSVG } from 'uqr';
import { PAGES } from '../../adapters/http/forms/flow.ts';
import { continuePage } from '../../adapters/http/pages/continue.ts';
import { brandStyle } from '../../adapters/http/pages/layout.ts';
import { userFailurePage } from '../../adapters/http/pages/user-failure.ts';
import { type UserPageTemplates, userPage } from '../../adapters/http/pages/user-pages.ts';
import { systemReason } from '../../adapters/log/redact-error.ts';
import { type MailTemplates, writeMail } from '../../application/mail/write-mail.ts';
import { Html, html } from '../../application/templates.ts';
import { MAIL_NAMES, variablesOf } from '../../domain/event-table.ts';
import { invalidArguments } from '../command-error.ts';
import { type Config, parseConfig } from '../config.ts';
import { MAIL_FILES, openTemplates, PAGE_FILES, writeFiles } from '../template-files.ts';
import { VERSION } from '../version.ts';
import { action, type Command } from './command.ts';
import { madeUpValues, NOW, views } from './templates/views.ts';

const eject = async (directory: string): Promise<string> => {
  try {
    await writeFiles(join(directory, 'mails'), await MAIL_FILES.files());
    await writeFiles(join(directory, 'pages'), await PAGE_FILES.files());
  } catch (error) {
    throw new Error(`eject: ${systemReason(error)}`);
  }
  return `The files are in ${directory}, in mails and pages. Keep those that you change: the others are built in.\n`;
};

const FAILURES = [
  { code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', status: 429, retryAfter: 42 },
  { code: 'SYS_HTTP_UNEXPECTED_ERROR', status: 404, retryAfter: undefined },
  { code: 'SYS_UNEXPECTED_ERROR', status: 500, retryAfter: undefined },
] as const;

type Frame = { readonly title: string; readonly page: string };

const framesOf = (config: Config, files: UserPageTemplates, locale: string): readonly Frame[] => {
  const { baseUrl, brand } = config;
  const texts = files.texts.get(locale);
  if (texts === undefined) return [];
  const context = {
    site: { baseUrl, brand, version: VERSION },
    application: config.application ?? baseUrl,
    locale,
    texts,
  };
  const pages = new Set(Object.keys(PAGES));
  return [
    ...views().map(({ title, ...content }) => {
      const { uri } = (content.state?.payload ?? {}) as { readonly uri?: string };
      const qr = uri === undefined ? null : renderSVG(uri);
      const page = userPage(
        {
          ...{ ...content, ...context, to: undefined, target: baseUrl, once: '', now: NOW, pages, qr },
          hasPath: () => true,
          locales: [locale],
          wasOfferedPasskey: false,
          lastUsedForm: 'log-in',
          minPasswordLength: config.passwordLimits.minLength,
          providers: [{ name: 'example', title: 'Example' }],
        },
        files,
      );
      return { title: `${content.name}: ${title}`, page };
    }),
    { title: 'continue: plain', page: continuePage(context, { to: baseUrl, login: baseUrl }, files) },
    ...FAILURES.map((error) => ({
      title: `failed: ${error.status}`,
      page: userFailurePage(
        { ...context, error, requestId: '0', retryUrl: '', logInPath: PAGES['log-in'].path },
        files,
      ),
    })),
  ].map(({ title, page }) => ({ title: `${locale} · ${title}`, page }));
};

/** A page as the sheet shows it: with its stylesheet inline, without its script, and with the forms and buttons that only the script would show. */
const standalonePage = (page: string, style: string): string =>
  page
    .replace(/<link rel="icon"[^>]*>|<script\b[^>]*><\/script>/g, '')
    .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${style}</style>`)
    .replace(/(<(?:form|button)\b[^>]*?) hidden\b/g, '$1');

const STYLE = `body { margin: 1rem; font-family: system-ui; background: #ddd }
main { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr)) }
figure { margin: 0 } iframe { width: 100%; border: 0; background: Canvas; color-scheme: light dark }`;
/** The script of the sheet sets the heights of the frames, whose sandbox forbids them scripts of their own. */
const SCRIPT = `onload = () => {
  // Set three times, since margins may depend on the height.
  for (const frame of [1, 2, 3].flatMap(() => [...document.querySelectorAll('iframe')]))
    frame.style.height = frame.contentDocument.documentElement.scrollHeight + 'px';
};`;

const sheetOf = (frames: readonly Frame[], style: string): string =>
  html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pages and mails</title>
<style>${new Html(STYLE)}</style>
<main>${frames.map(
    ({ title, page }) =>
      html`<figure><figcaption>${title}</figcaption><iframe sandbox="allow-same-origin" title="${title}" srcdoc="${standalonePage(page, style)}"></iframe></figure>\n`,
  )}</main>
<script>${new Html(SCRIPT)}</script>
</html>
`.text;

const STYLESHEET = new URL('../../adapters/http/pages/user-pages.css', import.meta.url);

const framesOfMails = (config: Config, mails: MailTemplates, locale: string): readonly Frame[] =>
  MAIL_NAMES.flatMap((template) => {
    const values = madeUpValues(template, config.accountPagesUrl);
    const settings = { brand: config.brand.name, defaultLocale: config.defaultLocale };
    const mail = writeMail(mails, settings, { template, values, locale });
    const names = ['brand', ...variablesOf(template)].map((name) => `{${name}}`).join(' ');
    return [
      { title: `${locale} · mail ${template}: ${names}`, page: mail.html },
      {
        title: `${locale} · text of ${template}`,
        page: html`<pre style="white-space: pre-wrap; overflow-wrap: anywhere">${mail.subject}\n\n${mail.text}</pre>`
          .text,
      },
    ];
  });

export const templates: Command = {
  actions: {
    '': action({
      options: { to: 'FILE', locale: 'de' },
      does: 'writes a sheet with the pages in their states and all mails, with made-up content; by default in all languages, and to templates.html',
      run: async ({ options: { to = 'templates.html', locale }, env }) => {
        const config = parseConfig(env);
        const { pages, mails, locales: mailLocales } = await openTemplates(config);
        const [files, mailFiles] = await Promise.all([pages(), mails()]);
        const style =
          (await readFile(STYLESHEET, 'utf8')) + brandStyle(config.brand) + (files.templates.get('style') ?? '');
        const locales = [...new Set([...files.locales, ...mailLocales])].filter(
          (each) => locale === undefined || each === locale,
        );
        if (locales.length === 0) throw invalidArguments(`There are no texts in ${locale}.`);
        const frames = locales.flatMap((each) => [
          ...framesOf(config, files, each),
          ...framesOfMails(config, mailFiles, each),
        ]);
        await writeFile(to, sheetOf(frames, style));
        return { text: `${to} has ${frames.length} pages and mails in ${locales.join(', ')}. Open it in a browser.\n` };
      },
    }),
    eject: action({
      args: ['DIR'],
      does: 'writes the built-in templates and texts to DIR/mails and DIR/pages, for MAIL_TEMPLATES and PAGE_TEMPLATES',
      run: async ({ args: [directory = ''] }) => ({ text: await eject(directory) }),
    }),
  },
  notes:
    'The sheet has the product of the configuration, and the templates and texts of MAIL_TEMPLATES and PAGE_TEMPLATES.',
};
