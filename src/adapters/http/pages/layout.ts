import { type Html, html, NO_HTML } from '../../../application/templates.ts';

export type Site = {
  /** BASE_URL, or ADMIN_URL for the back office, without a trailing slash. */
  readonly baseUrl: string;
  readonly version: string;
  /** Default: `NAVIGATION`. */
  readonly siteNavigation?: Navigation;
  /** The path of a second stylesheet. */
  readonly siteStyle?: string;
};

/** The links at the top of each page. The first one looks like the name of the site. */
export type Navigation = readonly (readonly [path: `/${string}`, name: string])[];

/** The look of the pages for users. `null`: the service's own look, or no such link. */
export type Brand = {
  readonly name: string;
  readonly logoUrl: string | null;
  readonly logoDarkUrl?: string | null;
  readonly iconUrl?: string | null;
  readonly termsUrl?: string | null;
  readonly privacyUrl?: string | null;
  readonly supportUrl?: string | null;
  /** The colour of buttons. This and `background` have the form `#rrggbb`. */
  readonly color: string | null;
  readonly font?: string | null;
  /** Of corners, in pixels. */
  readonly radius?: number;
  readonly background?: string | null;
};

export type UserSite = Site & { readonly brand: Brand };

/** A path below the path of `baseUrl`. It has no host, so that links work under any host name of the service. */
export const pathIn = ({ baseUrl }: Site, path: string): string => new URL(baseUrl).pathname.replace(/\/$/, '') + path;

type LayoutContent = {
  readonly title: string;
  readonly main: Html;
  /** The path under which the navigation has the page. Default: it does not have the page. */
  readonly path?: string;
  readonly script?: Html;
  /** Markup in the header, after the navigation. */
  readonly aside?: Html;
};

const NAVIGATION: Navigation = [
  ['/', 'Tandem'],
  ['/docs', 'API'],
  ['/errors', 'Errors'],
];

export const layout = (site: Site, content: LayoutContent): string => {
  const { title, main, script = NO_HTML } = content;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${pathIn(site, '/icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${pathIn(site, '/pages.css')}">
${site.siteStyle === undefined ? NO_HTML : html`<link rel="stylesheet" href="${pathIn(site, site.siteStyle)}">\n`}${script}</head>
<body>
${headerOf(site, content)}<main id="content" tabindex="-1">
${main}
</main>
<footer><p>Tandem ${site.version}</p></footer>
</body>
</html>
`.text;
};

/** The rule with the operator's look. Text on a colour is black or white: one of them has a contrast of 4.5 or more on any colour (WCAG 2.2 §1.4.3). */
export const brandStyle = ({ color, font = null, radius, background = null }: Brand): string => {
  const textColorOn = (color: string) => (isLight(color) ? '#000000' : '#ffffff');
  const lines = [
    ...(color === null ? [] : [`--button: ${color}`, `--on-button: ${textColorOn(color)}`]),
    ...(font === null ? [] : [`--font: ${font}, system-ui, sans-serif`]),
    ...(radius === undefined ? [] : [`--radius: ${radius}px`]),
    ...(background === null ? [] : [`--behind: ${background}`, `--on-behind: ${textColorOn(background)}`]),
  ];
  return lines.length === 0 ? '' : `\n:root {\n${lines.map((line) => `  ${line};\n`).join('')}}\n`;
};

/** Whether black has more contrast on a colour than white (WCAG 2.2, relative luminance). */
const isLight = (color: string): boolean => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    linear(Number.parseInt(color.slice(at, at + 2), 16) / 255),
  );
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (luminance + 0.05) ** 2 > 0.05 * 1.05;
};

const linear = (channel: number): number => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);

const headerOf = (site: Site, { path, aside = NO_HTML }: LayoutContent): Html => {
  const pages = site.siteNavigation ?? NAVIGATION;
  const current = pages.findLastIndex(([target]) => target === path);
  return html`<a class="skip" href="#content">Skip to the content</a>
<header>
<nav aria-label="Service">
${pages.map(([target, name], at) => html`<a${at === 0 ? html` class="brand"` : NO_HTML} href="${pathIn(site, target)}"${at === current ? html` aria-current="page"` : NO_HTML}>${name}</a>\n`)}</nav>
${aside}</header>
`;
};

/** Turns text in backticks, as the catalog of errors has it, into `<code>`. */
export const prose = (text: string): Html =>
  html`${text.split('`').map((part, at) => (at % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))}`;

/** A word that browsers may break after each underscore. */
export const breakable = (word: string): Html =>
  html`${word.split(/(?<=_)/).map((part, at) => (at === 0 ? html`${part}` : html`<wbr>${part}`))}`;

export const jsonBlock = (value: unknown): Html => html`<pre><code>${JSON.stringify(value, null, 2)}</code></pre>`;
