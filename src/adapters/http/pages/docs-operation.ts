import { STATUS_CODES } from 'node:http';
import { type Html, html, NOTHING } from '../../../application/html.ts';
import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import { isJson, type Json } from '../openapi/components.ts';
import { REQUEST_ID_HEADER } from '../stages/request-scope.ts';
import { ADVICE, STATUS_ADVICE } from './advice.ts';
import { CLIENT_CALLS, curlOf } from './docs-calls.ts';
import type { Operation, Response } from './docs-document.ts';
import type { Site } from './layout.ts';
import { breakable, jsonBlock, prose } from './prose.ts';

/** One error code with one of its statuses. */
export type ErrorRow = { readonly status: number; readonly code: string };

export const errorRowsOf = ({ responses }: Operation): ErrorRow[] =>
  responses.flatMap(({ status, codes }) => codes.map((code) => ({ status, code })));

/** The text that the filter of the page searches. */
export const searchedText = ({ method, path, summary }: Operation): string =>
  `${method} ${path} ${summary}`.toLowerCase();

/** @param errors those that are not the same for all operations. */
export const operationSection = (operation: Operation, errors: readonly ErrorRow[], { baseUrl }: Site): Html => {
  const { id, method, path, summary, security, parameters, body, responses } = operation;
  const own = parameters.filter(({ name }) => name !== REQUEST_ID_HEADER);
  const call = CLIENT_CALLS[id];
  return html`<article aria-labelledby="${id}" data-route="${searchedText(operation)}">
<h3 id="${id}"><code class="method ${method.toLowerCase()}">${method}</code> <code class="path">${breakablePath(path)}</code></h3>
<p>${summary}.</p>
<dl class="facts"><dt>Token</dt><dd>${securityOf(security)}</dd>
${call === undefined ? NOTHING : html`<dt>Client</dt><dd><code class="anywhere">${call}</code></dd>`}</dl>
${own.length === 0 ? NOTHING : parameterList(own)}
${body === undefined ? NOTHING : bodyOf(body)}
<pre><code>${curlOf(operation, baseUrl)}</code></pre>
${responses.filter(({ codes }) => codes.length === 0).map((response) => successOf(response))}
<h4>Errors</h4>
${errors.length === 0 ? NOTHING : errorList(errors)}
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

const parameterList = (parameters: Operation['parameters']): Html => html`<h4>Parameters</h4>
<dl class="terms">
${parameters.map(
  ({
    name,
    in: place,
    required,
    schema,
    description,
  }) => html`<dt><code class="name">${name}</code> in the ${place}</dt>
<dd>${required === true ? 'required' : 'optional'}, ${rulesOf({ ...schema, ...(description !== undefined && { description }) })}</dd>
`,
)}</dl>`;

const bodyOf = ({ schema }: NonNullable<Operation['body']>): Html => {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const members = Object.entries(isJson(schema.properties) ? schema.properties : {});
  return html`<h4>Body</h4>
<dl class="terms">
${members.map(
  ([name, member]) => html`<dt><code class="name">${name}</code></dt>
<dd>${required.includes(name) ? 'required' : 'optional'}, ${rulesOf(member as Json)}</dd>
`,
)}</dl>`;
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

/** Each code with its status, and what to do about it. */
export const errorList = (errors: readonly ErrorRow[]): Html => html`<dl class="terms">
${errors.map(
  ({ status, code }) => html`<dt><a href="#${code}"><code>${breakable(code)}</code></a> ${statusText(status)}</dt>
<dd>${prose(adviceOf(code, status))}</dd>
`,
)}</dl>`;

const adviceOf = (code: string, status: number): string =>
  code === 'SYS_HTTP_UNEXPECTED_ERROR'
    ? (STATUS_ADVICE.find((each) => each.status === status)?.advice ?? ADVICE[code])
    : ADVICE[code as ErrorCode];

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
