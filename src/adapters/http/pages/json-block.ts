import { type Html, html } from '../../../application/html.ts';

export const jsonBlock = (value: unknown): Html => html`<pre><code>${JSON.stringify(value, null, 2)}</code></pre>`;
