import { STATUS_CODES } from 'node:http';
import { type Html, html, NOTHING } from '../../../application/html.ts';
import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import { type Components, collectComponents, jsonSchemaOf } from '../openapi/components.ts';
import { successExample } from '../openapi/envelopes.ts';
import { exampleOf } from '../openapi/examples.ts';
import { codesByStatus } from '../openapi/responses.ts';
import { type Route, TAGS } from '../routing/define-route.ts';
import { layout, pathIn, type Site } from './layout.ts';
import { breakable, jsonBlock } from './prose.ts';

/** Each route with a call, its response and the codes of its errors. The OpenAPI document has the schemas. */
export const docsPage = (routes: readonly Route[], site: Site): string => {
  const common = errorsOfEvery(routes);
  const groups = Object.entries(TAGS).map(([tag, description]) => ({
    description,
    title: tag.charAt(0).toUpperCase() + tag.slice(1),
    routes: routes.filter((route) => route.tag === tag),
  }));
  return layout(site, {
    title: 'API · Tandem',
    path: '/docs',
    main: html`<h1>API</h1>
<p>The <a href="${pathIn(site, '/openapi.json')}">OpenAPI document</a> has the same for programs, with what each field may be. In the
commands, <code>$TOKEN</code> is an access token and <code>$JAR</code> a file for cookies.</p>
<nav aria-label="Routes">
<ul class="plain">
${routes.map((route) => html`<li><a href="#${route.name}">${headOf(route)}</a></li>\n`)}</ul>
</nav>
${groups.map(({ title, description, routes }) => html`<h2>${title}</h2>\n<p>${description}</p>\n${routes.map((route) => section(route, common, site))}`)}
<h2 id="every-route">Errors of every route</h2>
<p>${errorLinks(common, site)}</p>`,
  });
};

const headOf = ({ method, path }: Route): Html => html`<code><span class="method">${method}</span> ${path}</code>`;

const section = (route: Route, common: readonly ErrorRow[], site: Site): Html => {
  const components = collectComponents();
  const { response } = route;
  const data = exampleOf(jsonSchemaOf(response.data, 'output', components), components);
  const errors = errorsOf(route).filter((row) => !common.some((other) => isSame(row, other)));
  return html`<article aria-labelledby="${route.name}">
<h3 id="${route.name}">${headOf(route)}</h3>
<p>${route.summary}. Token: ${tokenOf(route)}.</p>
<pre><code>${curlOf(route, site, components)}</code></pre>
<p>${response.status} ${STATUS_CODES[response.status] ?? ''}${data === undefined ? '.' : ':'}</p>
${data === undefined ? NOTHING : exampleBlock(response.unwrapped === undefined ? successExample(data, site) : data)}
<p>Errors: ${errorLinks(errors, site)}<a href="#every-route">those of every route</a>.</p>
</article>
`;
};

const exampleBlock = (example: unknown): Html =>
  typeof example === 'string' ? html`<pre><code>${example}</code></pre>` : jsonBlock(example);

const tokenOf = ({ auth, cookie: { reads } }: Route): string => {
  const tokens = [
    ...(auth === 'public' ? [] : [`access token, ${auth}`]),
    ...(reads === undefined ? [] : [`refresh cookie, ${reads}`]),
  ];
  return tokens.join('; ') || 'none';
};

/** A curl command with the values of the examples. */
const curlOf = (
  { method, path, auth, cookie, request: { body } }: Route,
  { baseUrl }: Site,
  components: Components,
): string => {
  const example = body && exampleOf(jsonSchemaOf(body, 'input', components), components);
  const options = [
    ...(auth === 'public' ? [] : [`-H "Authorization: Bearer $TOKEN"`]),
    ...(cookie.reads === undefined ? [] : [`-b "$JAR"`]),
    ...(cookie.writes === undefined ? [] : [`-c "$JAR"`]),
    ...(example === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(example)}'`]),
  ];
  const url = `${baseUrl}${path.replaceAll(/:(\w+)/g, (_all, name: string) => name.toUpperCase())}`;
  return [method === 'GET' ? 'curl' : `curl -X ${method}`, ...options, url].join(options.length > 0 ? ' \\\n  ' : ' ');
};

type ErrorRow = { readonly status: number; readonly code: ErrorCode };

const errorsOf = (route: Route): ErrorRow[] =>
  [...codesByStatus(route)].flatMap(([status, codes]) => codes.map((code) => ({ status, code })));

const isSame = (a: ErrorRow, b: ErrorRow): boolean => a.code === b.code && a.status === b.status;

/** What each of the routes can answer. */
const errorsOfEvery = ([first, ...others]: readonly Route[]): ErrorRow[] =>
  first === undefined
    ? []
    : errorsOf(first).filter((row) => others.every((route) => errorsOf(route).some((other) => isSame(row, other))));

const errorLinks = (errors: readonly ErrorRow[], site: Site): Html =>
  html`${errors.map(
    ({ status, code }) =>
      html`<a href="${pathIn(site, `/errors/${code}`)}"><code>${breakable(code)}</code></a> ${status}, `,
  )}`;
