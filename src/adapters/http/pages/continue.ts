import { html } from '../../../application/templates.ts';
import { pathIn } from './layout.ts';
import type { PageFrame } from './page-view.ts';
import { filledPage, type UserPageFiles } from './user-pages.ts';

/** Where the page goes once the session is renewed, or if nobody is logged in. */
export type Targets = { readonly to: string; readonly login: string };

/** The page that renews a session whose device has a key, which only a script can prove, and goes on. ADR 0023. */
export const continuePage = (shown: PageFrame, { to, login }: Targets, files: UserPageFiles): string => {
  const { title = '', lead = '', again = '', 'no-script': noScript = '' } = shown.texts.pages.continue ?? {};
  const status = html`<p role="status" class="lead" data-to="${to}" data-login="${login}">${lead}</p>
<p><a href="">${again}</a></p>
<noscript><p>${noScript}</p></noscript>`;
  return filledPage(shown, files, {
    template: 'continue',
    title,
    script: html`<script type="module" src="${pathIn(shown.site, '/continue-page.js')}"></script>`,
    variable: (name) => (name === 'list.status' ? status : ''),
  });
};
