import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isJson, type Json } from '../../../src/adapters/http/openapi/components.ts';
import { openApiDocument, templateOf } from '../../../src/adapters/http/openapi/document.ts';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';
import { FALLBACK } from '../../../src/adapters/http/stages/dispatch.ts';

export type Answer = {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
};

/** @returns how an answer deviates from the OpenAPI document; nothing if it matches the document */
export type AnswerCheck = (method: string, target: string, answer: Answer) => string[];

/** The headers that an answer may only have if the document declares them. Other headers, such as those of CORS, are not checked. */
const DECLARED_HEADERS = [
  ...['svc-request-id', 'set-cookie', 'retry-after', 'www-authenticate', 'allow', 'etag', 'accept-encoding'],
];

/** Makes a check of answers against an OpenAPI document, with no additional members allowed in any object. */
export const answerCheck = (described: Json): AnswerCheck => {
  const document = withFallback(described);
  const schemas = schemaValidator(document);
  const operationOf = operationFinder(document);
  return (method, target, { status, headers, body }) => {
    // An answered OPTIONS request, such as a preflight, has no operation in the document (ADR 0015).
    if (method === 'OPTIONS' && status === 204) return body === '' ? [] : ['a body'];
    const problemsBy = (operation: readonly string[]): string[] => {
      const [response, pointer] = responseAt(document, ['paths', ...operation, 'responses', String(status)]);
      if (!isJson(response)) return [`status ${status} is not declared`];
      const problems = headerProblems(document, response, headers);
      if (method === 'HEAD' || response.content === undefined) return body === '' ? problems : [...problems, 'a body'];
      const content = contentProblems(response.content as Json, `${pointer}/content`, { headers, body }, schemas);
      return [...problems, ...content];
    };
    const problems = problemsBy(operationOf(method, target));
    // If the target is not a URI, Koa may read another path from it than this check does.
    return URI.test(target) || problems.length === 0 ? problems : problemsBy(FALLBACK_OPERATION);
  };
};

/** Matches the characters of a URI (RFC 3986 §2), without `#`. */
const URI = /^(?:[\w.~:/?@!$&'()*+,;=-]|%[\da-f]{2})*$/i;

/** Makes a check of answers against the OpenAPI document of routes. */
export const answerCheckOf = (routes: readonly Route[]): AnswerCheck => answerCheck(openApiDocument(routes, SETTINGS));

const SETTINGS = { baseUrl: 'https://auth.example.org', version: '1.2.3' };
const FALLBACK_OPERATION = [templateOf(FALLBACK), 'get'];

/** Adds the operation of the fallback, which answers requests that match no route. */
const withFallback = (document: Json): Json => {
  const { paths, components } = openApiDocument([FALLBACK], SETTINGS) as Record<string, Record<string, Json>>;
  const own = document.components as Record<string, Json>;
  const kinds = new Set([...Object.keys(own), ...Object.keys(components ?? {})]);
  return {
    ...document,
    // The fallback is first, because its pattern also matches `/`, and the search starts with the last operation.
    paths: { ...paths, ...(document.paths as Json) },
    components: Object.fromEntries([...kinds].map((kind) => [kind, { ...components?.[kind], ...own[kind] }])),
  };
};

/** Makes a function that finds the path of a request's operation in the document, or that of the fallback. */
const operationFinder = (document: Json) => {
  const patterns = Object.entries(document.paths as Json).map(([template, item]) => ({
    template,
    item: item as Json,
    // The router ignores case.
    pattern: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`, 'i'),
  }));
  return (method: string, target: string): string[] => {
    // An empty path is the same as `/` (RFC 9110 §4.2.3).
    const path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '') || '/';
    const wanted = method === 'HEAD' ? 'get' : method.toLowerCase();
    // A concrete path takes precedence over a template (OpenAPI 3.1 §4.8.8.1).
    const found = patterns.findLast(({ item, pattern }) => wanted in item && pattern.test(path));
    return found === undefined ? FALLBACK_OPERATION : [found.template, wanted];
  };
};

const valueAt = (document: Json, path: readonly string[]): [value: unknown, pointer: string] => [
  path.reduce<unknown>((node, name) => (isJson(node) ? node[name] : undefined), document),
  path.map((name) => `/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join(''),
];

/** Finds a response in the document. A response that several routes share is a component. */
const responseAt = (document: Json, path: readonly string[]): [response: unknown, pointer: string] => {
  const [response, pointer] = valueAt(document, path);
  if (!isJson(response) || typeof response.$ref !== 'string') return [response, pointer];
  return valueAt(document, response.$ref.slice(2).split('/'));
};

const headerProblems = (document: Json, response: Json, headers: Answer['headers']): string[] => {
  const declared = Object.entries(response.headers as Readonly<Record<string, Json>>).map(([name, { $ref }]) => {
    const [header] = valueAt(document, String($ref).slice(2).split('/'));
    return { name: name.toLowerCase(), required: (header as Json).required === true };
  });
  const missing = declared.filter(({ name, required }) => required && headers[name] === undefined);
  const known = new Set(declared.map(({ name }) => name));
  const extra = DECLARED_HEADERS.filter((name) => headers[name] !== undefined && !known.has(name));
  return [
    ...missing.map(({ name }) => `no header ${name}`),
    ...extra.map((name) => `the header ${name} is not declared`),
  ];
};

type SchemaValidator = (pointer: string) => ValidateFunction;

const contentProblems = (
  content: Json,
  pointer: string,
  { headers, body }: Omit<Answer, 'status'>,
  validatorOf: SchemaValidator,
): string[] => {
  const type = String(headers['content-type']).replace(/;.*/, '');
  if (!(type in content)) return [`the media type ${type} is not declared`];
  const [, encoded] = valueAt({}, [type]);
  const validate = validatorOf(`${pointer}${encoded}/schema`);
  const value = /\bjson$/.test(type) ? parsed(body) : body;
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(' '),
  );
};

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

/** Compiles each schema of the document once, when it is first used. */
const schemaValidator = (document: Json): SchemaValidator => {
  const ajv = new Ajv2020({ strict: false, validateFormats: true });
  // The types of the CommonJS package `ajv-formats` do not match what Node imports.
  (formats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema(closedSchema(document) as Json, 'document');
  const compiled = new Map<string, ValidateFunction>();
  return (pointer) => {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` });
    compiled.set(pointer, validate);
    return validate;
  };
};

/** Forbids additional members in every schema of an object that lists its members. */
const closedSchema = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(closedSchema);
  if (!isJson(node)) return node;
  const inner = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closedSchema(value)]));
  return node.type === 'object' && isJson(node.properties) ? { additionalProperties: false, ...inner } : inner;
};
