import { type Html, html, NO_HTML } from '../../../application/templates.ts';
import { layout, type Site } from './layout.ts';

/** The origin of the page from which a visitor comes, and whether its pages may call the service. */
type VisitorOrigin = { readonly name: string; readonly allowed: boolean; readonly allowedOriginsSetting: string };

const PAGE_TEXTS = {
  documentation: { title: 'API', text: 'Every route: what you send, what comes back, and which errors to handle.' },
  errors: { title: 'Errors', text: 'What each error code means, and what to do about it.' },
  openapi: { title: 'OpenAPI document', text: 'The same as the API page, for tools and for generated clients.' },
  client: {
    title: 'Browser client',
    text: 'A JavaScript module that a page imports to log in and to renew its tokens.',
  },
  keys: { title: 'Public keys', text: 'A JWK Set, with which other services verify access tokens by themselves.' },
  logIn: { title: 'Log in', text: 'The page on which users log in, register, and get to their account.' },
  console: { title: 'Console', text: 'Try the service in this browser.' },
};

/** The URLs of the pages of `PAGE_TEXTS`. A page that is switched off has none. */
type Links = { readonly [Name in keyof typeof PAGE_TEXTS]?: string | undefined };

export const homePage = (site: Site, links: Links, visitorOrigin: VisitorOrigin | null = null): string => {
  const texts = Object.entries(PAGE_TEXTS) as [keyof Links, { readonly title: string; readonly text: string }][];
  return layout(site, {
    title: 'Tandem',
    path: '/',
    main: html`<h1>Tandem</h1>
<p class="lead">This is an authentication service. It registers users, logs them in and renews their tokens, over HTTP and JSON.</p>
${visitorOrigin === null ? NO_HTML : originText(visitorOrigin)}<h2>Where to go next</h2>
<ul class="plain links">
${texts.flatMap(([name, { title, text }]) => {
  const address = links[name];
  return address === undefined ? [] : [html`<li><a href="${pathOf(address)}">${title}</a><p>${text}</p></li>\n`];
})}</ul>
<h2>How it works</h2>
<p>A log-in returns two tokens. The <strong>access token</strong> is in the response body. A client sends it with each request, and it
expires after minutes. The <strong>refresh token</strong> is in a cookie that scripts cannot read. It is good for a new pair of tokens,
once.</p>
<p>You are looking at a page because your browser asked for one. Programs get JSON:</p>
<pre><code>curl ${site.baseUrl}/</code></pre>`,
  });
};

const originText = ({ name, allowed, allowedOriginsSetting }: VisitorOrigin): Html =>
  allowed
    ? html`<p>You come from <code>${name}</code>, which is on the allow-list: its pages may call this service.</p>\n`
    : html`<p>You come from <code>${name}</code>, which is not on the allow-list: this service refuses the requests of its pages. To allow
them, add it to <code>${allowedOriginsSetting}</code>.</p>\n`;

/** The path of a URL. Links have no host, so that they also work under another host name of the service. */
const pathOf = (address: string): string => new URL(address).pathname;
