import type * as v from 'valibot';
import { type Html, html, NO_HTML } from '../../../application/templates.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { CATALOG, type ErrorCode } from '../../../domain/errors/catalog.ts';
import type { CatalogEntry } from '../../json/catalog.ts';
import { STATUS_CODES } from '../node-http.ts';
import { ADVICE, STATUS_ADVICE } from './advice.ts';
import { breakable, jsonBlock, layout, pathIn, prose, type Site } from './layout.ts';

type Entry = v.InferOutput<typeof CatalogEntry>;

export const errorListPage = (site: Site, entries: readonly Entry[]): string =>
  layout(site, {
    title: 'Errors · Tandem',
    path: '/errors',
    main: html`<h1>Errors</h1>
<p class="lead">An error response has a stable code in its member <code>code</code>. Programs decide by the code, not by the message
or by the status alone.</p>
<table class="stacked">
<thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Try again?</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${entries.map((entry) => rowOf(site, entry))}</tbody>
</table>`,
  });

const rowOf = (site: Site, { code, statusCode, retryable, description }: Entry): Html => html`<tr>
<th scope="row"><a href="${pathIn(site, `/errors/${code}`)}"><code>${breakable(code)}</code></a></th>
<td data-label="Status">${statusCode}</td>
<td data-label="Try again">${retryable ? 'after a wait' : 'no'}</td>
<td>${prose(description)}</td>
</tr>
`;

export const errorPage = (site: Site, entry: Entry): string => {
  const { code, message, description } = entry;
  return layout(site, {
    title: `${code} · Tandem`,
    main: html`<p><a href="${pathIn(site, '/errors')}">All errors</a></p>
<h1>${breakable(code)}</h1>
<p class="lead">${prose(message)}</p>
<dl>
<dt>Status</dt><dd>${statusOf(entry)}</dd>
<dt>Try again?</dt><dd>${retryOf(entry)}</dd>
</dl>
<h2>What it means</h2>
<p>${prose(description)}</p>
${
  ADVICE[code as ErrorCode] === undefined
    ? NO_HTML
    : html`<h2>What to do</h2>
<p>${prose(ADVICE[code as ErrorCode])}</p>`
}
${code === HTTP_ERROR ? STATUS_TABLE : NO_HTML}
${CATALOG[code as ErrorCode]?.published === false ? NO_HTML : jsonSection(entry)}`,
  });
};

const jsonSection = (entry: Entry): Html => html`<h2>For programs</h2>
<p>The same as JSON:</p>
<pre><code>curl ${entry.type}</code></pre>
<p>The member <code>data</code> of the response:</p>
${jsonBlock(entry)}`;

/** The code of errors of HTTP itself, which have different statuses. */
const HTTP_ERROR: ErrorCode = 'SYS_HTTP_UNEXPECTED_ERROR';
/** The catalog says that this error is not temporary. Nevertheless, a retry may succeed with the refresh token that another tab has got. */
const REFRESH_FAILED: ErrorCode = 'AUTH_FAILED';

const statusOf = ({ code, statusCode }: Entry): string =>
  code === HTTP_ERROR ? 'that of the error' : `${statusCode} ${STATUS_CODES[statusCode] ?? ''}`;

const retryOf = ({ code, retryable }: Entry): string => {
  if (code === HTTP_ERROR) return 'Only after 408 and 503.';
  if (code === REFRESH_FAILED) return 'Not with the same token; with that of another tab, if there is one.';
  return retryable
    ? 'Yes. The cause is temporary: wait, then send the same request again.'
    : 'No. Waiting does not help.';
};

const STATUS_TABLE = html`<table class="stacked">
<thead><tr><th scope="col">Status</th><th scope="col">Cause</th><th scope="col">What to do</th></tr></thead>
<tbody>
${STATUS_ADVICE.map(
  ({ status, cause, advice }) =>
    html`<tr><th scope="row">${status}</th><td>${prose(cause)}</td><td>${prose(advice)}</td></tr>\n`,
)}</tbody>
</table>`;

const serviceLinks = (
  site: Site,
): Html => html`<p><a href="${pathIn(site, '/')}">What this service is</a>, <a href="${pathIn(site, '/docs')}">its API</a>, and
<a href="${pathIn(site, '/errors')}">what its error codes mean</a>.</p>`;

/** The page of an error response. Of the request, it shows only the id. */
export const failurePage = (site: Site, error: AppError, requestId: string): string => {
  const { code, status, message, retryAfter } = error;
  const name = STATUS_CODES[status] ?? 'Error';
  return layout(site, {
    title: `${name} · Tandem`,
    main: html`<h1><span class="status">${status}</span> ${name}</h1>
<p class="lead">${prose(message)}</p>
${retryAfter === undefined ? NO_HTML : html`<p>Try again in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.</p>`}
<dl>
<dt>Code</dt><dd><a href="${pathIn(site, `/errors/${code}`)}"><code>${breakable(code)}</code></a></dd>
<dt>Request id</dt><dd><code>${requestId}</code></dd>
</dl>
${site.siteNavigation === undefined ? serviceLinks(site) : NO_HTML}`,
  });
};
