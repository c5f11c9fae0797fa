import { type Html, html } from '../../../application/html.ts';
import { CATALOG, type ErrorCode } from '../../../domain/errors/catalog.ts';
import { openApiDocument } from '../openapi/document.ts';
import type { Route } from '../routing/define-route.ts';
import { REQUEST_ID_HEADER } from '../stages/request-scope.ts';
import { type Described, type Operation, readDocument } from './docs-document.ts';
import { type ErrorRow, errorList, errorRowsOf, operationSection, searchedText } from './docs-operation.ts';
import { layout, pathIn, type Site } from './layout.ts';
import { breakable, jsonBlock, prose } from './prose.ts';

/** The OpenAPI document of the routes, for people. */
export const docsPage = (routes: readonly Route[], site: Site): string => {
  const described = readDocument(openApiDocument(routes, site));
  const groups = described.tags.map((tag) => ({
    ...tag,
    operations: described.operations.filter((operation) => operation.tag === tag.name),
  }));
  const common = errorsOfEvery(described.operations);
  return layout(site, {
    title: 'API · Tandem',
    path: '/docs',
    wide: true,
    // No module: browsers request a module with an Origin, and the service may not be on its own allow-list.
    script: html`<script defer src="${pathIn(site, '/docs-filter.js')}"></script>\n`,
    main: html`<div class="docs">
<div class="introduction">
<h1>API</h1>
${described.info.description.split('\n\n').map((text) => html`<p>${prose(text)}</p>\n`)}
<p>Programs read the same in the <a href="${pathIn(site, '/openapi.json')}">OpenAPI document</a>. The address of the service is
<code class="anywhere">${site.baseUrl}</code>. In the commands, <code>$TOKEN</code> is an access token and <code>$JAR</code> a file for
cookies. Every request may have the header <code>${REQUEST_ID_HEADER}</code>, its own request id.</p>
</div>
<nav class="contents" aria-label="Contents">
<p hidden><label for="filter">Filter the routes</label> <input id="filter" type="search" autocomplete="off"></p>
${groups.map(contentsOf)}<p><a href="#every-route">Errors of every route</a></p>
<ul>${REFERENCE.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}</ul>
</nav>
<div class="routes">
${groups.map((group) => groupSection(group, common, site))}
<section aria-labelledby="every-route">
<h2 id="every-route">Errors of every route</h2>
<p>Any request can get one of these.</p>
${errorList(common)}
</section>
${headerSection(described)}
${exampleSection(described, site)}
</div>
</div>`,
  });
};

type Group = { readonly name: string; readonly description: string; readonly operations: readonly Operation[] };

const REFERENCE = [
  ['headers', 'Headers'],
  ['examples', 'Examples of errors'],
] as const;

const titleOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const contentsOf = ({ name, operations }: Group): Html => html`<p><a href="#tag-${name}">${titleOf(name)}</a></p>
<ul>
${operations.map(
  (operation) =>
    html`<li data-route="${searchedText(operation)}"><a href="#${operation.id}"><span class="method ${operation.method.toLowerCase()}">${operation.method}</span> ${operation.path}</a></li>\n`,
)}</ul>
`;

const groupSection = ({ name, description, operations }: Group, common: readonly ErrorRow[], site: Site): Html => html`
<section aria-labelledby="tag-${name}">
<h2 id="tag-${name}">${titleOf(name)}</h2>
<p>${prose(description)}</p>
${operations.map((operation) => operationSection(operation, ownErrors(operation, common), site))}</section>
`;

const isSame = (a: ErrorRow, b: ErrorRow): boolean => a.code === b.code && a.status === b.status;

/** What each of the operations can answer. */
const errorsOfEvery = (operations: readonly Operation[]): ErrorRow[] => {
  const [first = [], ...others] = operations.map(errorRowsOf);
  return first.filter((row) => others.every((rows) => rows.some((other) => isSame(row, other))));
};

const ownErrors = (operation: Operation, common: readonly ErrorRow[]): ErrorRow[] =>
  errorRowsOf(operation).filter((row) => !common.some((other) => isSame(row, other)));

const headerSection = ({ headers }: Described): Html => html`<section aria-labelledby="headers">
<h2 id="headers">Headers</h2>
<dl class="terms">
${Object.entries(headers).map(
  ([name, { description }]) =>
    html`<dt><code>${name === 'Cleared-Cookie' ? 'Set-Cookie' : name}</code></dt><dd>${prose(description)}</dd>\n`,
)}</dl>
</section>`;

/** One for each code; the other statuses of a code look the same. */
const exampleSection = ({ examples }: Described, site: Site): Html => {
  // `Object.keys` is typed to return any strings.
  const codes = (Object.keys(CATALOG) as ErrorCode[]).toSorted();
  const shown = codes.flatMap((code) => {
    const [example] = Object.entries(examples).filter(([name]) => name.replace(/_\d+$/, '') === code);
    return example === undefined ? [] : [{ code, value: example[1].value }];
  });
  return html`<section aria-labelledby="examples">
<h2 id="examples">Examples of errors</h2>
${shown.map(
  ({ code, value }) => html`<h3 id="${code}">${breakable(code)}</h3>
<p>${prose(CATALOG[code].description)} <a href="${pathIn(site, `/errors/${code}`)}">What to do about ${breakable(code)}</a></p>
${jsonBlock(value)}
`,
)}</section>`;
};
