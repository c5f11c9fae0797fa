import { html } from '../../../application/html.ts';
import { layout, pathIn, type Site } from './layout.ts';

/** The page loads the client and the frame with the key, and calls this service. */
export const CONTINUE_POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"],
  ...["frame-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
].join('; ');

/** Where to go when the session is renewed, and when nobody is logged in. */
type Targets = { readonly to: string; readonly login: string };

/** A page that renews a session whose device has a key, and goes on: only a script can prove the key. ADR 0060. */
export const continuePage = (site: Site, { to, login }: Targets): string =>
  layout(site, {
    title: 'One moment',
    forUsers: true,
    script: html`<script type="module" src="${pathIn(site, '/continue-page.js')}"></script>\n`,
    main: html`<h1>One moment</h1>
<p role="status" data-to="${to}" data-login="${login}">Your session is being renewed.</p>
<p><a href="">Try again</a></p>
<noscript><p>This page needs JavaScript.</p></noscript>`,
  });
