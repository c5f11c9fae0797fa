import { type Html, html, NOTHING } from '../../../application/html.ts';

export type Site = {
  /** The public URL of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly version: string;
};

/** A path in the service, after the path of BASE_URL, which a proxy may add. Without a host, so that pages work under any host name. */
export const pathIn = ({ baseUrl }: Site, path: string): string => new URL(baseUrl).pathname.replace(/\/$/, '') + path;

type Content = {
  readonly title: string;
  readonly main: Html;
  /** The path of the page in the service, if the navigation has it. */
  readonly path?: string;
  /** The element of its script; by default it has none. */
  readonly script?: Html;
  /** Whether end users read it, who do not need the navigation of the service. */
  readonly forUsers?: boolean;
};

const NAVIGATION = [
  ['/docs', 'API'],
  ['/errors', 'Errors'],
] as const;

export const layout = (site: Site, { title, main, path, script = NOTHING, forUsers = false }: Content): string => {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${pathIn(site, '/icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${pathIn(site, '/pages.css')}">
${script}</head>
<body>
${forUsers ? NOTHING : navigation(site, path)}<main id="content" tabindex="-1">
${main}
</main>
${forUsers ? NOTHING : html`<footer><p>Tandem ${site.version}</p></footer>\n`}</body>
</html>
`.text;
};

const navigation = (site: Site, path: string | undefined): Html => {
  const current = (target: string) => (target === path ? html` aria-current="page"` : NOTHING);
  return html`<a class="skip" href="#content">Skip to the content</a>
<header>
<nav aria-label="Service">
<a class="brand" href="${pathIn(site, '/')}"${current('/')}>Tandem</a>
${NAVIGATION.map(([target, name]) => html`<a href="${pathIn(site, target)}"${current(target)}>${name}</a>\n`)}</nav>
</header>
`;
};

/** Text with code in backticks, as in the catalog. */
export const prose = (text: string): Html =>
  html`${text.split('`').map((part, at) => (at % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))}`;

/** A word that may be broken after each underscore, so that it fits a narrow column. */
export const breakable = (word: string): Html =>
  html`${word.split(/(?<=_)/).map((part, at) => (at === 0 ? html`${part}` : html`<wbr>${part}`))}`;

export const jsonBlock = (value: unknown): Html => html`<pre><code>${JSON.stringify(value, null, 2)}</code></pre>`;
