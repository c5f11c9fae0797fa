import { STATUS_CODES } from 'node:http';
import { html, NOTHING } from '../../../application/html.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { layout, pathIn, type Site } from './layout.ts';
import { breakable, prose } from './prose.ts';

/** An error, instead of its envelope. It shows nothing of the request but its id. */
export const failurePage = (site: Site, error: AppError, requestId: string): string => {
  const { code, status, message, retryAfter } = error;
  const name = STATUS_CODES[status] ?? 'Error';
  return layout(site, {
    title: `${name} · Tandem`,
    main: html`<h1><span class="status">${status}</span> ${name}</h1>
<p class="lead">${prose(message)}</p>
${retryAfter === undefined ? NOTHING : html`<p>Try again in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.</p>`}
<dl class="facts">
<dt>Code</dt><dd><a href="${pathIn(site, `/errors/${code}`)}"><code class="anywhere">${breakable(code)}</code></a></dd>
<dt>Request id</dt><dd><code class="anywhere">${requestId}</code></dd>
</dl>
<p><a href="${pathIn(site, '/')}">What this service is</a>, <a href="${pathIn(site, '/docs')}">its API</a>, and
<a href="${pathIn(site, '/errors')}">what its error codes mean</a>.</p>`,
  });
};
