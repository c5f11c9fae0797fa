import { html } from '../../../application/templates.ts';
import { pathIn } from './layout.ts';
import type { PageFrame } from './page-view.ts';
import { filledPage, type UserPageTemplates } from './user-pages.ts';

/** The URLs to which the page may lead: `to` once the session is renewed, or `login`. */
export type ContinueTargets = { readonly to: string; readonly login: string };

/** The page whose script renews a session with a key of its device (ADR 0023). */
export const continuePage = (
  frame: PageFrame,
  { to, login }: ContinueTargets,
  templates: UserPageTemplates,
): string => {
  const { title = '', lead = '', again = '', 'no-script': noScript = '' } = frame.texts.pages.continue ?? {};
  const status = html`<p role="status" class="lead" data-to="${to}" data-login="${login}">${lead}</p>
<p><a href="">${again}</a></p>
<noscript><p>${noScript}</p></noscript>`;
  return filledPage(frame, templates, {
    template: 'continue',
    title,
    script: html`<script type="module" src="${pathIn(frame.site, '/continue-page.js')}"></script>`,
    variable: (name) => (name === 'list.status' ? status : ''),
  });
};
