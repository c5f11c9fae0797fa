import { type Html, html } from '../../../application/html.ts';

/** Text with code in backticks, as in the catalog. */
export const prose = (text: string): Html =>
  html`${text.split('`').map((part, at) => (at % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))}`;

/** A word that may be broken after each underscore, so that it fits a narrow column. */
export const breakable = (word: string): Html =>
  html`${word.split(/(?<=_)/).map((part, at) => (at === 0 ? html`${part}` : html`<wbr>${part}`))}`;

export const jsonBlock = (value: unknown): Html => html`<pre><code>${JSON.stringify(value, null, 2)}</code></pre>`;
