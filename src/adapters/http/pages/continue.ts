import { html } from '../../../application/html.ts';
import type { PageLocale } from '../request/language.ts';
import { layout, pathIn, type UserSite } from './layout.ts';

const CONTINUE_TEXTS: Readonly<Record<PageLocale, Readonly<Record<'title' | 'text' | 'again' | 'noScript', string>>>> =
  {
    en: {
      title: 'One moment',
      text: 'Your session is being renewed.',
      again: 'Try again',
      noScript: 'This page needs JavaScript.',
    },
    de: {
      title: 'Einen Moment',
      text: 'Ihre Sitzung wird verlängert.',
      again: 'Erneut versuchen',
      noScript: 'Diese Seite benötigt JavaScript.',
    },
  };

/** Where to go when the session is renewed, and when nobody is logged in. */
type Targets = { readonly to: string; readonly login: string };

/** A page that renews a session whose device has a key, and goes on: only a script can prove the key. ADR 0023. */
export const continuePage = (site: UserSite, locale: PageLocale, { to, login }: Targets): string => {
  const { title, text, again, noScript } = CONTINUE_TEXTS[locale];
  return layout(site, {
    title,
    forUsers: { brand: { ...site.brand, logoUrl: null }, locale },
    script: html`<script type="module" src="${pathIn(site, '/continue-page.js')}"></script>\n`,
    main: html`<h1>${title}</h1>
<p role="status" data-to="${to}" data-login="${login}">${text}</p>
<p><a href="">${again}</a></p>
<noscript><p>${noScript}</p></noscript>`,
  });
};
