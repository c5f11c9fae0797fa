import { STATUS_CODES } from 'node:http';
import { type Html, html, NOTHING } from '../../../application/html.ts';
import { isJson, type Json } from '../openapi/components.ts';
import type { Operation, Response } from './docs-document.ts';
import { breakable, jsonBlock, prose } from './prose.ts';

/** One error code with one of its statuses. */
export type ErrorRow = { readonly status: number; readonly code: string; readonly headers: readonly string[] };

export const errorRowsOf = ({ responses }: Operation): ErrorRow[] =>
  responses.flatMap(({ status, codes, headers }) => codes.map((code) => ({ status, code, headers })));

/** @param errors those that are not the same for all operations. */
export const operationSection = (operation: Operation, errors: readonly ErrorRow[]): Html => {
  const { id, method, path, summary, security, parameters, body, responses } = operation;
  return html`<article aria-labelledby="${id}">
<h3 id="${id}"><code class="method ${method.toLowerCase()}">${method}</code> <code class="path">${breakablePath(path)}</code></h3>
<p>${summary}.</p>
<dl class="facts"><dt>Token</dt><dd>${securityOf(security)}</dd></dl>
${parameterTable(parameters)}
${body === undefined ? NOTHING : bodyOf(body)}
${responses.filter(({ codes }) => codes.length === 0).map((response) => successOf(response))}
<h4>Errors</h4>
${errors.length === 0 ? NOTHING : errorTable(errors)}
<p>${errors.length === 0 ? 'Only those' : 'And those'} <a href="#every-route">of every route</a>.</p>
</article>
`;
};

const breakablePath = (path: string): Html => html`${path.split(/(?<=.)(?=\/)/).map((part) => html`${part}<wbr>`)}`;

const TOKENS: Readonly<Record<string, string>> = { accessToken: 'access token', refreshToken: 'refresh cookie' };

const securityOf = (alternatives: Operation['security']): string => {
  const names = alternatives.flat().map((name) => TOKENS[name] ?? name);
  if (names.length === 0) return 'none is needed';
  const list = names.join(' or ');
  return alternatives.some((each) => each.length === 0) ? `${list}, optional` : list;
};

const parameterTable = (parameters: Operation['parameters']): Html => html`<h4>Parameters</h4>
<table class="stacked">
<thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Rules</th></tr></thead>
<tbody>
${parameters.map(
  ({ name, in: place, required, schema, description }) => html`<tr>
<th scope="row"><code class="name">${name}</code></th><td data-label="In">${place}</td>
<td>${required === true ? 'required' : 'optional'}, ${rulesOf({ ...schema, ...(description !== undefined && { description }) })}</td>
</tr>\n`,
)}</tbody>
</table>`;

const bodyOf = ({ schema, example }: NonNullable<Operation['body']>): Html => {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const members = Object.entries(isJson(schema.properties) ? schema.properties : {});
  return html`<h4>Body</h4>
<table class="stacked">
<thead><tr><th scope="col">Member</th><th scope="col">Rules</th></tr></thead>
<tbody>
${members.map(
  ([name, member]) => html`<tr>
<th scope="row"><code class="name">${name}</code></th>
<td>${required.includes(name) ? 'required' : 'optional'}, ${rulesOf(member as Json)}</td>
</tr>\n`,
)}</tbody>
</table>
${jsonBlock(example)}`;
};

const successOf = ({ status, headers, mediaTypes, example }: Response): Html => html`<h4>${statusText(status)}</h4>
<p class="small">${mediaTypes.length === 0 ? 'No body' : mediaTypes.map((type, at) => html`${at === 0 ? '' : ' or '}<code>${type}</code>`)};
headers ${headerList(headers)}</p>
${example === undefined ? NOTHING : exampleOf(example)}`;

const exampleOf = (example: unknown): Html =>
  typeof example === 'string' ? html`<pre><code>${example}</code></pre>` : jsonBlock(example);

const statusText = (status: number): string => `${status} ${STATUS_CODES[status] ?? ''}`;

const headerList = (headers: readonly string[]): Html =>
  html`${headers.map((name, at) => html`${at === 0 ? '' : ', '}<code>${name}</code>`)}`;

export const errorTable = (errors: readonly ErrorRow[]): Html => html`<table class="stacked">
<thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Headers</th></tr></thead>
<tbody>
${errors.map(
  ({ status, code, headers }) => html`<tr>
<th scope="row"><a href="#${code}"><code>${breakable(code)}</code></a></th>
<td data-label="Status">${statusText(status)}</td>
<td>${headerList(headers)}</td>
</tr>\n`,
)}</tbody>
</table>`;

/** What a JSON Schema of one field permits, in words. */
const rulesOf = (schema: Json): Html => {
  const rules = [
    typeOf(schema),
    ...boundsOf(schema),
    ...(typeof schema.pattern === 'string' ? [html`matches <code class="anywhere">${schema.pattern}</code>`] : []),
  ];
  const { description } = schema;
  return html`${rules.map((rule, at) => html`${at === 0 ? '' : ', '}${rule}`)}${
    typeof description === 'string' ? html`. ${prose(description)}` : ''
  }`;
};

const typeOf = ({ enum: values, type }: Json): Html =>
  Array.isArray(values)
    ? html`one of ${values.map((value, at) => html`${at === 0 ? '' : ', '}<code>${String(value)}</code>`)}`
    : html`${String(type ?? 'any')}`;

/** Of a number, or of the length of a text. */
const boundsOf = ({ type, minimum, maximum, minLength, maxLength }: Json): Html[] => {
  const [least, most] = type === 'integer' ? [minimum, maximum] : [minLength, maxLength];
  const unit = (bound: unknown) => (type === 'integer' ? '' : ` character${bound === 1 ? '' : 's'}`);
  if (least !== undefined && most !== undefined) return [html`${String(least)} to ${String(most)}${unit(most)}`];
  if (least !== undefined) return [html`at least ${String(least)}${unit(least)}`];
  return most === undefined ? [] : [html`at most ${String(most)}${unit(most)}`];
};
