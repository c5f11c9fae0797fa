import { type Html, html, NO_HTML } from '../../../../application/templates.ts';
import { layout, pathIn, type Site } from '../layout.ts';
import type { PageView } from './view.ts';

/** The frame of the back office's pages. They are in English, like the commands of operators, and have no scripts (ADR 0031). */

type OfficePage = {
  readonly path: string;
  readonly title: string;
  readonly badges?: readonly Html[];
  readonly lead?: Html | string;
  readonly main: Html;
};

export const officePage = (view: PageView, { path, title, badges = [], lead = '', main }: OfficePage): string =>
  layout(view.site, {
    title: `${title} · Back office`,
    path,
    aside: html`<p class="who">Logged in as <strong>${view.operator}</strong> <a href="${actorUrl(view.site, view.operator)}">What you did</a>${view.logOutUrl === null ? NO_HTML : html` <a href="${view.logOutUrl}">Log out</a>`}</p>\n`,
    main: html`<h1>${title}${badges.map((each) => html` ${each}`)}</h1>
${lead === '' ? NO_HTML : html`<p class="lead">${lead}</p>\n`}${alertOf(view)}${main}`,
  });

const alertOf = ({ outcome, forms }: PageView): Html => {
  const form = forms.get(outcome?.form ?? '');
  if (outcome === null || form === undefined) return NO_HTML;
  const { problems, url } = outcome;
  const { button, doneText = 'Done.' } = form;
  return problems === null
    ? html`<p role="status" class="notice">${button}: ${url === undefined ? doneText : html`Hand this link over. It is shown for a minute, and works once: <code>${url}</code>`}</p>\n`
    : html`<p role="alert" class="notice bad" id="alert">${button}: ${problems.join('; ')}</p>\n`;
};

export const actorUrl = (site: Site, actor: string): string =>
  `${pathIn(site, '/office/events')}?${new URLSearchParams({ actor })}`;

export type Tone = 'good' | 'bad' | 'warn' | 'quiet';

export const badge = (tone: Tone, text: string | Html): Html => html`<span class="badge ${tone}">${text}</span>`;

export const timeOf = (at: number, withoutDay = false): Html => {
  const text = new Date(at).toISOString();
  return html`<time datetime="${text}">${withoutDay ? text.slice(11, 16) : `${text.slice(0, 16).replace('T', ' ')} UTC`}</time>`;
};

export const numberOf = (count: number): string => count.toLocaleString('en');

/** Turns a name into words: `logged-in` into `Logged in`, and `login` into `Log-in`. */
export const wordsOf = (name: string): string =>
  name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ').replace('ogin', 'og-in');

export const panel = (
  title: string,
  content: Html,
  id?: string,
): Html => html`<section class="panel"${id === undefined ? NO_HTML : html` id="${id}"`}>
<h2>${title}</h2>
${content}
</section>
`;

/** A table. The first cell of a row is its header. On a narrow screen, the stylesheet shows each row as a block. */
export const tableOf = (caption: string, heads: readonly string[], rows: readonly (readonly Html[])[]): Html =>
  rows.length === 0
    ? html`<p class="lead">There are none.</p>\n`
    : html`<table class="stacked">
<caption>${caption}</caption>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map(
  ([first = NO_HTML, ...others]) => html`<tr>
<th scope="row">${first}</th>
${others.map((cell, at) => html`<td${heads[at + 1] ? html` data-label="${heads[at + 1] ?? ''}"` : NO_HTML}>${cell}</td>\n`)}</tr>
`,
)}</tbody>
</table>
`;

/** @param query the parameters of the URL; `null`: the URL lacks the parameter */
export const nextPageLink = (query: Readonly<Record<string, string | null>>, text: string): Html => {
  const parameters = Object.entries(query).flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
  return html`<p class="more"><a href="?${new URLSearchParams(parameters).toString()}">${text}</a></p>\n`;
};

export const userLink = (site: Site, id: string, name: string): Html =>
  html`<a href="${pathIn(site, `/office/users/${id}`)}">${name}</a>`;

/** A link to the user, or the id of a user who has no account any more. */
export const userLinkOrId = ({ site, usernames }: PageView, id: string): Html => {
  const name = usernames.get(id);
  return name === undefined ? html`<code>${id}</code>` : userLink(site, id, name);
};

/** @param options pairs of a value and a text @param value the value of the selected option */
export const selectOf = (name: string, label: string, options: readonly (readonly string[])[], value: string): Html =>
  html`<p><label for="${name}">${label}</label>
<select id="${name}" name="${name}">${options.map(([each = '', text = '']) => html`<option value="${each}"${each === value ? html` selected` : NO_HTML}>${text}</option>`)}</select></p>
`;
